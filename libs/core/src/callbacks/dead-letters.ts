/** Callbacks of the Payment Service that could never be applied: which there are, and publishing them again. */
import {
  decodeCallbackRecord,
  decodeDlqRecord,
  encodeReplayMark,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
  withoutDeadLetterReason,
} from './callback-records.ts';
import type { BusRecord, MessageBus, TopicReader } from '@tollgate/message-bus';

/** A dead-lettered callback without its body: there may be many. */
export interface DeadLettered {
  /** Partition and offset, such as `3/17`. */
  offset: string;
  token: string;
  environment: string | undefined;
  reason: string;
  /** ISO 8601 in UTC. */
  receivedAt: string | undefined;
  /** False where another try cannot help: what was dead-lettered is no callback. */
  isReadable: boolean;
  isReplayed: boolean;
}

/** Everything that the topic holds, in order. @throws BusUnavailable */
export async function readDeadLetters(topicReader: TopicReader): Promise<DeadLettered[]> {
  const deadLetters = new Map<string, DeadLettered>();
  for await (const record of readTopic(topicReader)) {
    const decoded = decodeDlqRecord(record);
    if (decoded.kind === 'replayed') {
      const replayed = deadLetters.get(decoded.place);
      if (replayed !== undefined) replayed.isReplayed = true;
    } else {
      const { token, environment, reason, receivedAt: at } = decoded;
      const receivedAt = at === undefined ? undefined : new Date(at).toISOString();
      const isReadable = decodeCallbackRecord(record).kind === 'callback';
      const offset = placeOf(record);
      const shown = { offset, token, environment, reason, receivedAt, isReadable };
      deadLetters.set(offset, { ...shown, isReplayed: false });
    }
  }
  return [...deadLetters.values()];
}

/**
 * Publishes those at these places again; the gateway applies them as it does others.
 *
 * @throws BusUnavailable: some may have been published, and a repeat publishes the rest
 */
export async function publishDeadLettersAgain(
  { bus, topicReader }: { bus: Pick<MessageBus, 'publish'>; topicReader: TopicReader },
  places: ReadonlySet<string>,
): Promise<void> {
  for await (const record of readTopic(topicReader)) {
    if (!places.has(placeOf(record))) continue;
    await bus.publish(providerCallbacksTopic, [withoutDeadLetterReason(record)]);
    // Marked after it: after a crash in between it is published a second time, which changes nothing.
    await bus.publish(providerCallbacksDlqTopic, [encodeReplayMark(record, placeOf(record))]);
  }
}

/** Everything that is on the topic now. */
const readTopic = (topicReader: TopicReader): AsyncIterable<BusRecord> =>
  topicReader.readTopic(providerCallbacksDlqTopic, {
    from: 'beginning',
    signal: new AbortController().signal,
  });

const placeOf = ({ partition, offset }: BusRecord): string => `${partition}/${offset}`;
