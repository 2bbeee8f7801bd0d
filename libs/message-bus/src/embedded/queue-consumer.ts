/** Hands the records of a topic to a group, in the process that has the group's lease. */
import {
  type EventStore,
  type Revision,
  beginning,
  createBatchAge,
  createCheckpoint,
  createFollower,
  positionSchema,
  runUnderLease,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { z } from 'zod';
import type { BusRecord } from '../message-bus.ts';
import { approximateBytes, toBusRecord, topicStream } from './records.ts';

const batchRecordsMax = 200;
const batchBytesMax = 4 * 1_048_576;
/** Handled records are kept this long, milliseconds, for `tollgate tail`. */
const handledMsMax = 7 * 86_400_000;
/** Old records are searched once per this many handled records, and at most as many are deleted. */
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

const committedSchema = z.object({ position: positionSchema });

/** Until the signal is aborted, through failures of the store and of the handler. */
export async function consumeQueue(consumer: QueueConsumer, signal: AbortSignal): Promise<void> {
  const { store, clock, ids, log, holder, isGone, leaseDurationMs: durationMs, group, topic } = consumer;
  const name = `bus:${group}:${topic}`;
  const follower = createFollower({ clock, log, name: `consume ${topic}` }, (until, gotOn) => {
    const lease = { store, clock, ids, log, holder, isGone, signal: until, name, durationMs };
    return runUnderLease(lease, (held) => consumeBatches(consumer, held, gotOn));
  });
  await follower.run(signal);
}

/**
 * Until the signal is aborted, or another process of the group has committed. @throws StoreUnavailable; errors of the handler
 */
async function consumeBatches(
  consumer: QueueConsumer,
  signal: AbortSignal,
  gotOn: () => void,
): Promise<void> {
  const { store, clock, topic, group } = consumer;
  const offsets = { ...consumer, stream: `busoffset-${group}:${topic}`, schema: committedSchema };
  const checkpoint = createCheckpoint(offsets);
  const { position: from } = (await checkpoint.read()) ?? { position: beginning };
  const age = createBatchAge(clock);
  let batch: BusRecord[] = [];
  let bytes = 0;
  for await (const item of store.subscribe({ from, prefixes: [topicStream(topic)], signal })) {
    if (item.kind === 'event') {
      const record = toBusRecord(topic, item);
      batch.push(record);
      bytes += approximateBytes(record);
      if (batch.length < batchRecordsMax && bytes < batchBytesMax && !age.isDueWith()) continue;
    }
    if (batch.length > 0) {
      await consumer.handle(batch);
      const committed = await checkpoint.replace({ position: item.position });
      if (committed.kind === 'conflict') return;
      await deleteHandled(consumer, batch);
    }
    gotOn();
    [batch, bytes] = [[], 0];
    age.restart();
  }
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
