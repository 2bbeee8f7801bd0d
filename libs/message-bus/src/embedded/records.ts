/** Messages as events of a partition's stream. */
import { isUtf8 } from 'node:buffer';
import {
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  StoreUnavailable,
  inAppends,
} from '@tollgate/event-store';
import type { Ids } from '@tollgate/service-kit';
import { z } from 'zod';
import { BusUnavailable, type BusRecord, type Message } from '../message-bus.ts';
import { type PartitionCounts, partitionOf, partitionStream } from './topics.ts';

const storedSchema = z.object({
  key: z.string(),
  value: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  headers: z.record(z.string(), z.string()),
});

/** A value that is text stays readable in the file. */
export function toNewEvent(id: string, { key, value, headers }: Message): NewEvent {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  const data: z.infer<typeof storedSchema> = { key, value: bytes.toString(encoding), encoding, headers };
  return { id, type: 'BusRecord', data, metadata: {} };
}

/** @throws ZodError if the stream contains something else */
export function toBusRecord(topic: string, partition: number, recorded: RecordedEvent): BusRecord {
  const { key, value, encoding, headers } = storedSchema.parse(recorded.data);
  return {
    topic,
    partition,
    key,
    headers,
    value: Uint8Array.from(Buffer.from(value, encoding)),
    offset: String(recorded.revision),
    timestamp: recorded.recordedAt,
  };
}

/** Roughly what a message takes in memory and in the file. */
export const approximateBytes = ({ key, value, headers }: Message) =>
  key.length + 2 * value.byteLength + JSON.stringify(headers).length;

interface Dependencies {
  store: EventStore;
  ids: Ids;
  partitionCount: PartitionCounts;
}

/** Writes messages to their partitions. @throws BusUnavailable, and InvalidArgument for a message that is too large */
export async function publish(
  { store, ids, partitionCount }: Dependencies,
  topic: string,
  messages: readonly Message[],
): Promise<void> {
  // One append after the other: a later message must not be there without an earlier one.
  const append = async (partition: number, group: readonly Message[]): Promise<void> => {
    for (const events of inAppends(group.map((message) => toNewEvent(ids.uuid(), message))))
      await store.append(partitionStream(topic, partition), events, 'any');
  };
  try {
    const count = await partitionCount(topic);
    const byPartition = Map.groupBy(messages, ({ key }) => partitionOf(key, count));
    // All are waited for, so that nothing is written any more once this has been rejected.
    const outcomes = await Promise.allSettled([...byPartition].map((each) => append(...each)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } catch (error) {
    throw error instanceof StoreUnavailable ? fromStoreUnavailable(error) : error;
  }
}

const fromStoreUnavailable = (cause: StoreUnavailable): BusUnavailable =>
  new BusUnavailable('bus_unavailable', 'The event store under the message bus did not confirm.', {
    retryable: cause.retryable,
    cause,
  });
