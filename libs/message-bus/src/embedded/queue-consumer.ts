/** Hands the records of a topic to a group, in the process that has the group's lease. */
import {
  type EventStore,
  type Position,
  type Revision,
  beginning,
  createBatchAge,
  positionSchema,
  runUnderLease,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { z } from 'zod';
import type { BusRecord } from '../message-bus.ts';
import { approximateBytes, toBusRecord, topicStream } from './records.ts';
import { untilItWorks } from './retrying.ts';

const batchRecordsMax = 200;
const batchBytesMax = 4 * 1_048_576;
/** Handled records are kept this long, milliseconds, for `tollgate tail`. */
const handledMsMax = 7 * 86_400_000;
/** Old records are looked for once for so many records handled, and as many are deleted at most. */
const deletedTogether = 1_000;

export interface QueueConsumer {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  holder: string;
  isGone: (holder: string) => boolean;
  leaseDurationMs: number;
  group: string;
  topic: string;
  handle: (batch: readonly BusRecord[]) => Promise<void>;
}

/** Until the signal is aborted, through passing failures of the store. @throws what is not retryable */
export async function consumeQueue(consumer: QueueConsumer, signal: AbortSignal): Promise<void> {
  const { store, clock, ids, log, holder, isGone, leaseDurationMs: durationMs, group, topic } = consumer;
  const name = `bus:${group}:${topic}`;
  const lease = { store, clock, ids, log, holder, isGone, signal, name, durationMs };
  const fields = { operation: 'consume', topic };
  // Coming back without the signal means that another process has the lease.
  while (!signal.aborted)
    await untilItWorks({ clock, log, signal, fields }, () =>
      runUnderLease(lease, (held) => consumeBatches(consumer, held)),
    );
}

/** Until the signal is aborted, or another process of the group has gone on. @throws StoreUnavailable */
async function consumeBatches(consumer: QueueConsumer, signal: AbortSignal): Promise<void> {
  const { store, clock, topic } = consumer;
  const age = createBatchAge(clock);
  let committed = await readCommitted(consumer);
  let batch: BusRecord[] = [];
  let bytes = 0;
  const from = committed.position;
  for await (const item of store.subscribe({ from, prefixes: [topicStream(topic)], signal })) {
    if (item.kind === 'event') {
      const record = toBusRecord(topic, item);
      batch.push(record);
      bytes += approximateBytes(record);
      if (batch.length < batchRecordsMax && bytes < batchBytesMax && !age.isDueWith()) continue;
    }
    if (batch.length > 0) {
      const next = await handleAndCommit(consumer, { batch, position: item.position, committed, signal });
      if (next === undefined) return;
      committed = next;
      await deleteHandled(consumer, batch);
    }
    [batch, bytes] = [[], 0];
    age.restart();
  }
}

interface BatchInHand {
  batch: readonly BusRecord[];
  /** Everything up to here was handed over. */
  position: Position;
  committed: Committed;
  signal: AbortSignal;
}

/** Undefined if another process has gone on, or the signal was aborted before the handler succeeded. */
async function handleAndCommit(
  { store, clock, ids, log, group, topic, handle }: QueueConsumer,
  { batch, position, committed, signal }: BatchInHand,
): Promise<Committed | undefined> {
  const fields = { topic, position: batch.at(-1)?.offset ?? '' };
  const handling = {
    clock,
    log,
    signal,
    fields: { ...fields, operation: 'handle' },
    mayTryAgain: () => true,
  };
  const handled = await untilItWorks(handling, async () => handle(batch));
  if (handled === undefined) return undefined;
  // A try that failed is repeated with the same id.
  const event = { id: ids.uuid(), type: 'OffsetCommitted', data: { position }, metadata: {} };
  const committing = { clock, log, signal, fields: { ...fields, operation: 'commit' } };
  const outcome = await untilItWorks(committing, () =>
    store.append(offsetStream(group, topic), [event], committed.revision, { keepLast: 1 }),
  );
  const answer = outcome?.result;
  return answer?.kind === 'appended' ? { position, revision: answer.revision } : undefined;
}

/** Never rejects. */
async function deleteHandled(
  { store, clock, log, topic }: QueueConsumer,
  batch: readonly BusRecord[],
): Promise<void> {
  const [first, last] = [Number(batch[0]?.offset), Number(batch.at(-1)?.offset)];
  if (Math.floor(first / deletedTogether) === Math.floor((last + 1) / deletedTogether)) return;
  const stream = topicStream(topic);
  const olderThan = clock.now() - handledMsMax;
  try {
    let upTo: Revision = 0;
    for await (const { revision, recordedAt } of store.read(stream, { limit: deletedTogether })) {
      if (revision > last || recordedAt >= olderThan) break;
      upTo = revision + 1;
    }
    if (upTo > 0) await store.truncate(stream, upTo);
  } catch (error) {
    log.warn({ error, topic }, 'old records could not be deleted');
  }
}

const offsetStream = (group: string, topic: string) => `busoffset-${group}:${topic}`;

/** How far a group has come in a topic. */
interface Committed {
  position: Position;
  /** Of the stream that holds this. */
  revision: Revision | 'no-stream';
}

async function readCommitted({ store, group, topic }: QueueConsumer): Promise<Committed> {
  const schema = z.object({ position: positionSchema });
  const last = store.read(offsetStream(group, topic), { direction: 'backwards', limit: 1 });
  for await (const { data, revision } of last) return { ...schema.parse(data), revision };
  return { position: beginning, revision: 'no-stream' };
}
