import { StoreUnavailable, inAppends, type EventStore } from '@tollgate/event-store';
import type { Ids } from '@tollgate/service-kit';
import { BusUnavailable } from '../errors.ts';
import type { Message } from '../message-bus.ts';
import type { PartitionEnds } from './partition-ends.ts';
import { partitionOf, partitionStream } from './partition-streams.ts';
import { recordIdOf, toNewEvent } from './record-codec.ts';
import type { Topics } from './topics.ts';

/** Writes messages to their partitions. @throws BusUnavailable, and InvalidArgument for a message that is too large */
export async function publish(
  { store, ids, topics, ends }: { store: EventStore; ids: Ids; topics: Topics; ends: PartitionEnds },
  topic: string,
  messages: readonly Message[],
): Promise<void> {
  const toRecord = ({ cause, ...message }: Message) =>
    toNewEvent(cause === undefined ? ids.uuid() : recordIdOf(topic, cause), message);

  try {
    const partitionCount = await topics.partitionCount(topic);
    const byPartition = Map.groupBy(messages, ({ key }) => partitionOf(key, partitionCount));
    const publishing = [...byPartition].map(([partition, group]) => {
      const mustBeOnce = group.some(({ cause }) => cause !== undefined);
      const stream = partitionStream(topic, partition);
      return mustBeOnce ? ends.append(stream, group.map(toRecord)) : appendInOrder(stream, group);
    });
    // All are waited for, so that nothing is written any more once this has been rejected.
    const outcomes = await Promise.allSettled(publishing);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } catch (error) {
    throw error instanceof StoreUnavailable ? fromStoreUnavailable(error) : error;
  }

  // One append after the other: a later message must not be there without an earlier one. Nothing is expected: a repeat of
  // what has no cause is harmless, and any number of processes write to a partition without waiting for one another.
  async function appendInOrder(stream: string, group: readonly Message[]): Promise<void> {
    for (const append of inAppends(group.map(toRecord))) await store.append(stream, append, 'any');
  }
}

function fromStoreUnavailable(cause: StoreUnavailable): BusUnavailable {
  const { retryable } = cause;
  return new BusUnavailable('bus_unavailable', 'The event store under the message bus did not confirm.', {
    retryable,
    cause,
  });
}
