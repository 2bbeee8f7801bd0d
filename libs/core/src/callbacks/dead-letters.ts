/** Callbacks of the Payment Service that could never be applied: lists them, and publishes them again. */
import {
  decodeCallbackRecord,
  decodeDlqRecord,
  encodeReplayMark,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
  withoutDeadLetterReason,
} from './callback-records.ts';
import type { BusRecord, MessageBus, TopicReader } from '@tollgate/message-bus';

/** A dead-lettered callback without its body, since there may be many. */
export interface DeadLettered {
  /** Partition and offset, such as `3/17`. */
  offset: string;
  token: string;
  environment: string | undefined;
  reason: string;
  /** ISO 8601 in UTC. */
  receivedAt: string | undefined;
  /** False if a replay cannot help: the record is not a callback. */
  isReadable: boolean;
  isReplayed: boolean;
}

/** The whole topic, in order. @throws BusUnavailable */
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
 * Publishes these again; the gateway applies them like others.
 *
 * @throws BusUnavailable: some may have been published, and a retry publishes the rest
 */
export async function publishDeadLettersAgain(
  { bus, topicReader }: { bus: Pick<MessageBus, 'publish'>; topicReader: TopicReader },
  places: ReadonlySet<string>,
): Promise<void> {
  for await (const record of readTopic(topicReader)) {
    if (!places.has(placeOf(record))) continue;
    await bus.publish(providerCallbacksTopic, [withoutDeadLetterReason(record)]);
    // Marked afterwards: a crash in between publishes it twice, which changes nothing.
    await bus.publish(providerCallbacksDlqTopic, [encodeReplayMark(record, placeOf(record))]);
  }
}

const readTopic = (topicReader: TopicReader): AsyncIterable<BusRecord> =>
  topicReader.readTopic(providerCallbacksDlqTopic, {
    from: 'beginning',
    signal: new AbortController().signal,
  });

const placeOf = ({ partition, offset }: BusRecord): string => `${partition}/${offset}`;
