import { StoreUnavailable, eventsPerAppendMax, type EventStore } from '@tollgate/event-store';
import type { Ids } from '@tollgate/service-kit';
import { BusUnavailable } from '../errors.ts';
import type { Message } from '../message-bus.ts';
import { partitionOf, partitionStream } from './partition-streams.ts';
import { approximateBytes, toNewEvent } from './record-codec.ts';
import type { Topics } from './topics.ts';

const chunkBytesMax = 4 * 1_048_576;

/** Writes messages to their partitions. @throws BusUnavailable, and InvalidArgument for a message that is too large */
export async function publish(
  { store, ids, topics }: { store: EventStore; ids: Ids; topics: Topics },
  topic: string,
  messages: readonly Message[],
): Promise<void> {
  try {
    const partitionCount = await topics.partitionCount(topic);
    const byPartition = Map.groupBy(messages, ({ key }) => partitionOf(key, partitionCount));
    const publishing = [...byPartition].map(([partition, group]) =>
      appendInOrder(partitionStream(topic, partition), group),
    );
    // All are waited for, so that nothing is written any more once this has been rejected.
    const outcomes = await Promise.allSettled(publishing);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } catch (error) {
    throw error instanceof StoreUnavailable ? fromStoreUnavailable(error) : error;
  }

  // One chunk after the other: a later message must not be there without an earlier one.
  async function appendInOrder(stream: string, group: readonly Message[]): Promise<void> {
    for (const chunk of inChunks(group)) {
      await store.append(
        stream,
        chunk.map((message) => toNewEvent(ids.uuid(), message)),
        'any',
      );
    }
  }
}

function fromStoreUnavailable(cause: StoreUnavailable): BusUnavailable {
  const { retryable } = cause;
  return new BusUnavailable('bus_unavailable', 'The event store under the message bus did not confirm.', {
    retryable,
    cause,
  });
}

function* inChunks(messages: readonly Message[]): Generator<Message[]> {
  let chunk: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = approximateBytes(message);
    if (chunk.length === eventsPerAppendMax || (chunk.length > 0 && bytes + size > chunkBytesMax)) {
      yield chunk;
      [chunk, bytes] = [[], 0];
    }
    chunk.push(message);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
