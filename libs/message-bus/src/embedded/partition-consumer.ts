import type { EventStore, Revision } from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { z } from 'zod';
import type { BusRecord } from '../message-bus.ts';
import type { Doorbell } from './doorbell.ts';
import { approximateBytes, toBusRecord } from './records.ts';
import { type GroupPartition, offsetStream, partitionStream } from './topics.ts';
import { untilItWorks } from './retrying.ts';

const batchRecordsMax = 200;
const batchBytesMax = 4 * 1_048_576;
/** Handled records are kept this long, milliseconds, for `tollgate tail`. */
const handledMsMax = 7 * 86_400_000;
/** Old records are looked for once for so many records handled, and as many are deleted at most. */
const deletedTogether = 1_000;

export type Handle = (batch: readonly BusRecord[]) => Promise<void>;

export interface PartitionConsumer {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  partition: GroupPartition;
  /** Rings when a record has come to this partition. */
  doorbell: Doorbell;
  handle: Handle;
}

/**
 * Hands the records of a partition to the handler and commits, batch by batch, until the signal is aborted or another
 * member of the group turns out to have the partition.
 *
 * @throws StoreUnavailable
 */
export async function consumePartition(consumer: PartitionConsumer, signal: AbortSignal): Promise<void> {
  const { store, partition, doorbell } = consumer;
  let committed: CommittedOffset | undefined = await readCommitted(store, partition);
  while (committed !== undefined && !signal.aborted) {
    const ringCount = doorbell.count();
    const batch = await readBatch(consumer, committed.nextRevision);
    const last = batch.at(-1);
    if (last === undefined) await doorbell.after(ringCount, signal);
    else committed = await handleAndCommit(consumer, { batch, last, committed, signal });
  }
}

async function readBatch({ store, partition, log }: PartitionConsumer, from: Revision): Promise<BusRecord[]> {
  const { topic, partition: number } = partition;
  const batch: BusRecord[] = [];
  let bytes = 0;
  for await (const recorded of store.read(partitionStream(topic, number), { from, limit: batchRecordsMax })) {
    const record = toBusRecord(topic, number, recorded);
    batch.push(record);
    bytes += approximateBytes(record);
    if (bytes >= batchBytesMax) break;
  }
  const missing = Number(batch[0]?.offset ?? from) - from;
  if (missing > 0)
    log.error({ topic, partition: number, count: missing }, 'records were removed before they were read');
  return batch;
}

interface BatchInHand {
  batch: readonly BusRecord[];
  last: BusRecord;
  committed: CommittedOffset;
  signal: AbortSignal;
}

/** Gives undefined where the partition is no longer ours, or the signal was aborted before the handler succeeded. */
async function handleAndCommit(
  { store, clock, ids, log, partition, handle }: PartitionConsumer,
  { batch, last, committed, signal }: BatchInHand,
): Promise<CommittedOffset | undefined> {
  const { topic, partition: number } = partition;
  const fields = { topic, partition: number, position: last.offset };
  const handling = {
    clock,
    log,
    signal,
    fields: { ...fields, operation: 'handle' },
    mayTryAgain: () => true,
  };
  const handled = await untilItWorks(handling, async () => handle(batch));
  if (handled === undefined) return undefined;
  const step = { from: committed, nextRevision: Number(last.offset) + 1, eventId: ids.uuid() };
  const committing = { clock, log, signal, fields: { ...fields, operation: 'commit' } };
  const outcome = await untilItWorks(committing, () => commit(store, partition, step));
  if (passesMultiple(committed.nextRevision, step.nextRevision))
    await deleteHandled(store, partitionStream(topic, number), {
      before: step.nextRevision,
      olderThan: clock.now() - handledMsMax,
    }).catch((error: unknown) => log.warn({ ...fields, error }, 'old records could not be deleted'));
  return outcome?.result;
}

const passesMultiple = (from: Revision, to: Revision): boolean =>
  Math.floor(from / deletedTogether) !== Math.floor(to / deletedTogether);

async function deleteHandled(
  store: EventStore,
  stream: string,
  { before, olderThan }: { before: Revision; olderThan: number },
): Promise<void> {
  let upTo: Revision = 0;
  for await (const { revision, recordedAt } of store.read(stream, { limit: deletedTogether })) {
    if (revision >= before || recordedAt >= olderThan) break;
    upTo = revision + 1;
  }
  if (upTo > 0) await store.truncate(stream, upTo);
}

const committedSchema = z.object({ nextRevision: z.int().min(0) });

/** How far a group has come in a partition. */
interface CommittedOffset {
  /** Revision of the first record that was not handled yet. */
  nextRevision: Revision;
  /** Of the stream that keeps this. */
  committedAt: Revision | 'no-stream';
}

async function readCommitted(store: EventStore, partition: GroupPartition): Promise<CommittedOffset> {
  const stream = offsetStream(partition);
  await store.keepLast(stream, 1);
  for await (const { data, revision } of store.read(stream, { direction: 'backwards', limit: 1 }))
    return { ...committedSchema.parse(data), committedAt: revision };
  return { nextRevision: 0, committedAt: 'no-stream' };
}

/**
 * Moves a group on, only from where the caller knows it to be: undefined where another member has moved it, which
 * therefore has the partition. Repeat a try that failed with the same `eventId`.
 */
async function commit(
  store: EventStore,
  partition: GroupPartition,
  { from, nextRevision, eventId }: { from: CommittedOffset; nextRevision: Revision; eventId: string },
): Promise<CommittedOffset | undefined> {
  const event = { id: eventId, type: 'OffsetCommitted', data: { nextRevision }, metadata: {} };
  const answer = await store.append(offsetStream(partition), [event], from.committedAt);
  return answer.kind === 'appended' ? { nextRevision, committedAt: answer.revision } : undefined;
}
