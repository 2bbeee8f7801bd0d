/** What kafkajs asks of the brokers beneath its producers and consumers: offsets, and records without a group. */
import type { Cluster } from 'kafkajs';
import { z } from 'zod';
import { BusUnavailable } from '../errors.ts';
import type { FetchedMessage } from './record-mapping.ts';

const fetchBytesMax = 2 * 1_048_576;
const readCommitted = 1;
/** Fetches that a broker throttles, one after another. Between them kafkajs waits as long as the broker says. */
const throttledMax = 10;

// What kafkajs gives for a fetch has no type of its own.
const fetchedSchema = z.object({
  responses: z.array(
    z.object({
      partitions: z.array(
        z.object({
          messages: z.array(z.custom<RawMessage>()),
        }),
      ),
    }),
  ),
});

export type RawMessage = FetchedMessage & { isControlRecord?: boolean };

/** Where a partition begins, ends, or came to at an instant (milliseconds since the Unix epoch; the end where nothing came since). */
export type OffsetsAt = { fromBeginning: boolean } | { fromTimestamp: number };

export async function offsetsOf(
  cluster: Cluster,
  { topic, partitions, at }: { topic: string; partitions: readonly number[]; at: OffsetsAt },
): Promise<Map<number, bigint>> {
  const asked = { topic, partitions: partitions.map((partition) => ({ partition })), ...at };
  const [answer] = await cluster.fetchTopicsOffset([asked]);
  return new Map((answer?.partitions ?? []).map(({ partition, offset }) => [partition, BigInt(offset)]));
}

/**
 * Records from an offset on, one fetch full of them; a batch may begin before it. Above a quota a broker answers without the
 * partition (KIP-219), which says nothing of its records.
 *
 * @throws BusUnavailable, retryable, where it goes on doing so
 */
export async function fetchFrom(
  cluster: Cluster,
  { topic, partition }: { topic: string; partition: number },
  offset: bigint,
): Promise<RawMessage[]> {
  const [leader] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
  const broker = await cluster.findBroker({ nodeId: leader ?? '' });
  for (let tries = 0; tries < throttledMax; tries += 1) {
    const fetched: unknown = await broker.fetch({
      isolationLevel: readCommitted,
      maxWaitTime: 0,
      minBytes: 0,
      maxBytes: fetchBytesMax,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes: fetchBytesMax }] }],
    });
    const found = fetchedSchema.parse(fetched).responses.flatMap(({ partitions }) => partitions);
    if (found.length > 0) return found.flatMap(({ messages }) => messages);
  }
  throw new BusUnavailable(
    'bus_unavailable',
    'Kafka throttles this client, and gives it no records: raise its quota.',
  );
}
