import { StoreUnavailable, type EventStore } from '@tollgate/event-store';
import type { Ids } from '@tollgate/service-kit';
import { BusUnavailable } from '../errors.ts';
import type { Message } from '../message-bus.ts';
import type { PartitionEnds } from './partition-ends.ts';
import { partitionOf, partitionStream } from './partition-streams.ts';
import { type OutgoingRecord, firstChunk } from './record-chunks.ts';
import { approximateBytes, recordIdOf, toNewEvent } from './record-codec.ts';
import type { Topics } from './topics.ts';

export interface Publishing {
  store: EventStore;
  ids: Ids;
  topics: Topics;
  ends: PartitionEnds;
}

/** Writes messages to their partitions. @throws BusUnavailable, and InvalidArgument for a message that is too large */
export async function publish(
  publishing: Publishing,
  topic: string,
  messages: readonly Message[],
): Promise<void> {
  const { ids, topics, ends } = publishing;
  try {
    const partitionCount = await topics.partitionCount(topic);
    const byPartition = Map.groupBy(messages, ({ key }) => partitionOf(key, partitionCount));
    const appending = [...byPartition].map(([partition, group]) => {
      const stream = partitionStream(topic, partition);
      const records = group.map((message) => toRecord(ids, topic, message));
      const mustBeOnce = group.some(({ cause }) => cause !== undefined);
      return mustBeOnce ? ends.append(stream, records) : appendInOrder(publishing, stream, records);
    });
    // All are waited for, so that nothing is written any more once this has been rejected.
    const outcomes = await Promise.allSettled(appending);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } catch (error) {
    throw error instanceof StoreUnavailable ? fromStoreUnavailable(error) : error;
  }
}

const toRecord = (ids: Ids, topic: string, { cause, ...message }: Message): OutgoingRecord => ({
  event: toNewEvent(cause === undefined ? ids.uuid() : recordIdOf(topic, cause), message),
  bytes: approximateBytes(message),
});

/**
 * One chunk after the other: a later message must not be there without an earlier one. Nothing is expected: a repeat of
 * what has no cause is harmless, and any number of processes write to a partition without waiting for one another.
 */
async function appendInOrder(
  { store }: Pick<Publishing, 'store'>,
  stream: string,
  records: readonly OutgoingRecord[],
): Promise<void> {
  let missing = records;
  while (missing.length > 0) {
    const chunk = firstChunk(missing);
    const events = chunk.map(({ event }) => event);
    await store.append(stream, events, 'any');
    missing = missing.slice(chunk.length);
  }
}

function fromStoreUnavailable(cause: StoreUnavailable): BusUnavailable {
  const { retryable } = cause;
  return new BusUnavailable('bus_unavailable', 'The event store under the message bus did not confirm.', {
    retryable,
    cause,
  });
}
