import type { EventStore, Revision } from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { BusRecord } from '../message-bus.ts';
import { commit, readCommitted, type CommittedOffset } from './committed-offset.ts';
import type { Doorbell } from './doorbell.ts';
import { partitionStream, type GroupPartition } from './partition-streams.ts';
import { approximateBytes, toBusRecord } from './record-codec.ts';
import { untilItWorks } from './retrying.ts';

const batchRecordsMax = 200;
const batchBytesMax = 4 * 1_048_576;

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
  return outcome?.result;
}
