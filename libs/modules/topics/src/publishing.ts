/** One pass of the publisher: claims the checkpoint, retries quarantined streams, and publishes from the checkpoint on. */
import {
  type EventStore,
  type FailedStream,
  type FailedStreams,
  type Position,
  type RecordedEvent,
  StoreUnavailable,
  beginning,
  createBatchAge,
  createFailedStreams,
  failureAt,
  restAfter,
} from '@tollgate/event-store';
import { positionHeader, gatewayJournalTopic } from '@tollgate/gateway-api';
import type { KafkaMessageBus, Message, MessageBus } from '@tollgate/message-bus';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import {
  type Progress,
  type PublisherCheckpoint,
  checkpointStream,
  createPublisherCheckpoint,
} from './checkpoint.ts';
import { isAtOrAfter, type LastRecords, readLastRecords, toLastRecord } from './last-records.ts';
import {
  type TopicRecord,
  createRecordsOf,
  publishedPrefixes,
  publishedStream,
  bytesOf,
  messageBytesMax,
} from './topic-records.ts';

export interface PublishingDependencies {
  store: EventStore;
  bus: Pick<KafkaMessageBus, 'publish' | 'lastPerPartition' | 'partitionOf' | 'address'>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Receives the progress of a pass. */
export interface PublishingWatch {
  /** An event was read that is not on its topic yet. */
  pending(event: RecordedEvent): void;
  /** Everything up to `position` is on its topic; `isAtEnd` if the store has no more. */
  reached(position: Position, isAtEnd: boolean): void;
  failed(streams: readonly FailedStream[]): void;
}

interface Pass extends PublishingDependencies {
  checkpoint: PublisherCheckpoint;
  /** The last position of the checkpoint. */
  from: Position;
  lastRecords: LastRecords;
  recordsOf: ReturnType<typeof createRecordsOf>;
  batch: Batch;
  failed: FailedStreams;
  watch: PublishingWatch;
  signal: AbortSignal;
}

/**
 * @throws StoreUnavailable, BusUnavailable; TollgateError `too_many_failed_streams`, `publisher_superseded`,
 * `store_too_slow`, `topic_of_another_store`; the signal's reason if it was aborted before a send
 */
export async function publishFromCheckpoint(
  deps: PublishingDependencies,
  watch: PublishingWatch,
  signal: AbortSignal,
): Promise<void> {
  const checkpoint = createPublisherCheckpoint(deps);
  const { failedStreams, claimedAt, position: from } = await checkpoint.claim();
  // After the claim: from here on, the former publisher begins no further send.
  const lastRecords = await readLastRecords(deps, claimedAt);
  const [recordsOf, batch] = [createRecordsOf(deps.store), createBatch(deps.bus)];
  const failed = createFailedStreams(deps.log, failedStreams);
  const parts = { checkpoint, from, lastRecords, recordsOf, batch, failed, watch, signal };
  const pass: Pass = { ...deps, ...parts };
  watch.failed(failed.list());
  for (const each of failedStreams) await retry(pass, each);
  await follow(pass);
}

/**
 * Publishes the missing part of a quarantined stream up to the position of each partition. These late records carry the
 * position of their partition, so that it does not appear to move back.
 */
async function retry(pass: Pass, { stream, revision }: FailedStream): Promise<void> {
  const { store, lastRecords, from, failed, batch } = pass;
  failed.delete(stream);
  for await (const event of store.read(stream, { from: revision })) {
    if (event.position > laterOf(from, lastRecords.furthest)) break;
    const records = await recordsFor(pass, event);
    if (records === undefined) break;
    for (const record of records) await addLate(pass, record, event.position);
    if (batch.isFull()) await flush(pass);
  }
  await flush(pass);
  await noteFailed(pass, from);
}

async function addLate(
  { lastRecords, from, batch }: Pass,
  record: TopicRecord,
  position: Position,
): Promise<void> {
  const last = await lastRecords.of(record);
  const upTo = laterOf(from, last?.position ?? beginning);
  if (position > upTo || isAtOrAfter(last, toLastRecord(record))) return;
  const late = { ...record, headers: { ...record.headers, [positionHeader]: upTo } };
  batch.add(late);
  await lastRecords.note(late);
}

async function follow(pass: Pass): Promise<void> {
  const { store, clock, checkpoint, from, batch, watch, signal } = pass;
  const age = createBatchAge(clock);
  let events = 0;
  for await (const item of store.subscribe({ from, prefixes: followed, signal })) {
    if (item.kind === 'event' && item.stream === checkpointStream) {
      await checkpoint.requireOurs();
      continue;
    }
    if (item.kind === 'event') {
      events += 1;
      await take(pass, item);
      if (!batch.isFull() && !age.isDueWith()) continue;
    }
    await flush(pass);
    watch.reached(item.position, item.kind === 'caught-up');
    // Another follower's checkpoint also moves the end of the store: answering each with ours would never end.
    if (events > 0) await checkpoint.write(progressAt(pass, item.position));
    if (item.kind === 'caught-up') await restAfter(events, { clock, signal });
    events = 0;
    age.restart();
  }
}

async function take(pass: Pass, event: RecordedEvent): Promise<void> {
  if (isHeldBack(pass, event) || (await isPublished(pass, event))) return;
  const records = await recordsFor(pass, event);
  if (records === undefined) {
    await flush(pass);
    // Record it before publishing anything later, which would make it look published.
    await noteFailed(pass, event.position);
    return;
  }
  for (const record of records) {
    if (await pass.lastRecords.reaches(record)) continue;
    pass.watch.pending(event);
    pass.batch.add(record);
  }
}

/** Journal entries are sent first: once the record of its subject is published, all records of an event are. */
async function isPublished({ lastRecords }: Pass, event: RecordedEvent): Promise<boolean> {
  const published = publishedStream(event.stream);
  if (published === undefined) return false;
  const { kind, key } = published;
  return lastRecords.reaches({ topic: kind.topic, key, headers: { [positionHeader]: event.position } });
}

const isHeldBack = ({ failed }: Pass, { stream, revision }: RecordedEvent): boolean =>
  failed.has(stream) && failed.list().some((each) => each.stream === stream && revision >= each.revision);

/** Undefined if they cannot be made, and the stream is quarantined. @throws StoreUnavailable */
async function recordsFor(
  { recordsOf, failed }: Pass,
  event: RecordedEvent,
): Promise<TopicRecord[] | undefined> {
  try {
    return await recordsOf(event);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    failed.add(failureAt(event, error));
    return undefined;
  }
}

async function flush({ batch, checkpoint, signal }: Pass): Promise<void> {
  if (batch.isEmpty()) return;
  await checkpoint.requireOurs();
  signal.throwIfAborted();
  await batch.publish();
}

const progressAt = ({ failed }: Pass, position: Position): Progress => ({
  position,
  failedStreams: failed.list(),
});

async function noteFailed(pass: Pass, position: Position): Promise<void> {
  pass.watch.failed(pass.failed.list());
  await pass.checkpoint.write(progressAt(pass, position), { atOnce: true });
}

/** Includes the checkpoint: another process has taken over, or an operator has moved it to the beginning. */
const followed = [...publishedPrefixes, checkpointStream];

const laterOf = (a: Position, b: Position): Position => (a > b ? a : b);

const messagesMax = 200;
const batchBytesMax = 900_000;

/** Messages of several topics for the bus. */
type Batch = ReturnType<typeof createBatch>;

function createBatch(bus: Pick<MessageBus, 'publish'>) {
  const byTopic = new Map<string, Message[]>();
  let count = 0;
  let bytes = 0;
  return {
    add: ({ topic, ...message }: TopicRecord): void => {
      const messages = byTopic.get(topic) ?? [];
      messages.push(message);
      byTopic.set(topic, messages);
      count += 1;
      bytes += bytesOf(message);
    },
    /** True if the batch is full. */
    isFull: (): boolean => count >= messagesMax || bytes + messageBytesMax > batchBytesMax,
    isEmpty: (): boolean => count === 0,
    /**
     * Publishes each topic in order and empties the batch. The journal is first, so that an event whose own record is published
     * needs nothing else.
     *
     * @throws BusUnavailable once every send has ended: some, all or none of the messages are written
     */
    publish: async (): Promise<void> => {
      const entries = byTopic.get(gatewayJournalTopic);
      byTopic.delete(gatewayJournalTopic);
      if (entries !== undefined) await bus.publish(gatewayJournalTopic, entries);
      const sends = [...byTopic].map(([topic, messages]) => bus.publish(topic, messages));
      const outcomes = await Promise.allSettled(sends);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
      byTopic.clear();
      [count, bytes] = [0, 0];
    },
  };
}
