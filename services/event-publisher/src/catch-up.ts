/**
 * Brings in what a failed stream has missed. Others have gone on meanwhile, so its records come late in their partition;
 * among themselves they are in order, and none is missing and none there twice.
 */
import {
  type EventStore,
  type FailedStream,
  type Position,
  type RecordedEvent,
  type StreamFailure,
  beginning,
} from '@tollgate/event-store';
import { positionHeader } from '@tollgate/gateway-api';
import type { Message } from '@tollgate/message-bus';
import type { LastRecords } from './last-records.ts';
import type { Messages } from './messages.ts';
import { publishedStream } from './published-kinds.ts';

export interface CatchUpDependencies {
  store: Pick<EventStore, 'read'>;
  messages: Messages;
  lastRecords: LastRecords;
  /** Publishes one message after another; `flush` resolves when all are durable. */
  publish: (topic: string, message: Message) => Promise<void>;
  flush: () => Promise<void>;
}

/**
 * Publishes what is missing of one stream up to where its partition has come, so that the events after that come in their
 * turn. Gives the failure of the first event that still cannot be published.
 *
 * Write a checkpoint without the stream before anything else is published: until then, the last record of the partition
 * is what tells how much of it is there.
 *
 * @throws StoreUnavailable, BusUnavailable
 */
export async function catchUpStream(
  { store, messages, lastRecords, publish, flush }: CatchUpDependencies,
  { stream, revision }: FailedStream,
  checkpointed: Position,
): Promise<StreamFailure | undefined> {
  const published = publishedStream(stream);
  if (published === undefined) return undefined;
  const { kind, key } = published;
  const last = await lastRecords.ofKey(kind.topic, key);
  const upTo = laterOf(checkpointed, last?.position ?? beginning);
  const from = last?.key === key ? Math.max(revision, last.revision + 1) : revision;
  let latest: RecordedEvent | undefined;
  let failure: StreamFailure | undefined;
  for await (const event of store.read(stream, { from })) {
    if (event.position > upTo) break;
    const made = await messages.of(kind, event);
    if (made.kind === 'failed') {
      failure = made;
      break;
    }
    await publish(kind.topic, comeTo(made.message, upTo));
    latest = event;
  }
  await flush();
  if (latest !== undefined)
    await lastRecords.note(kind.topic, { key, position: upTo, revision: latest.revision });
  return failure;
}

const laterOf = (a: Position, b: Position): Position => (a > b ? a : b);

// The partition has come further than this event, and must not look as if it had gone back.
const comeTo = (message: Message, position: Position): Message => ({
  ...message,
  headers: { ...message.headers, [positionHeader]: position },
});
