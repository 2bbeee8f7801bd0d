/** Kafka requests below the producers and consumers of kafkajs: partitions, offsets, and records without a group. */
import { type Cluster, type PartitionMetadata, Partitioners } from 'kafkajs';
import { z } from 'zod';
import { requireBusName } from '../embedded/records.ts';
import { BusUnavailable, type BusRecord } from '../message-bus.ts';
import { type FetchedMessage, toBusRecord } from './record-mapping.ts';
import type { ClusterLink } from './cluster-link.ts';

const fetchBytesMax = 2 * 1_048_576;
const readCommitted = 1;
/** Maximum consecutive throttled fetches. Between them kafkajs waits as long as the broker requires. */
const throttledMax = 10;

// kafkajs exports no type of the fetch result.
const fetchedSchema = z.object({
  responses: z.array(
    z.object({ partitions: z.array(z.object({ messages: z.array(z.custom<RawMessage>()) })) }),
  ),
});

type RawMessage = FetchedMessage & { isControlRecord?: boolean };

/** The first offsets, or the ends. */
async function offsetsOf(
  cluster: Cluster,
  {
    topic,
    partitions,
    fromBeginning,
  }: { topic: string; partitions: readonly number[]; fromBeginning: boolean },
): Promise<Map<number, bigint>> {
  const asked = { topic, partitions: partitions.map((partition) => ({ partition })), fromBeginning };
  const [answer] = await cluster.fetchTopicsOffset([asked]);
  return new Map((answer?.partitions ?? []).map(({ partition, offset }) => [partition, BigInt(offset)]));
}

/**
 * Records from an offset on, one fetch full of them; a batch may begin before it. Above a quota a broker answers without the
 * partition (KIP-219), which proves nothing about its records.
 *
 * @throws BusUnavailable, retryable, if it keeps doing so
 */
async function fetchFrom(
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
    'Kafka throttles this client and returns no records. Raise its quota.',
  );
}

/** The newest offset may have no record: compaction removes some, and control records are not for consumers. */
const firstWindow = 1;
const windowGrowth = 16;

/** The last record of each partition that has one. */
export async function readLastRecords(
  cluster: Cluster,
  topic: string,
  partitions: readonly number[],
): Promise<BusRecord[]> {
  await cluster.addTargetTopic(topic);
  await cluster.refreshMetadata();
  const ends = await offsetsOf(cluster, { topic, partitions, fromBeginning: false });
  const beginnings = await offsetsOf(cluster, { topic, partitions, fromBeginning: true });
  const lasts = await Promise.all(
    partitions.map((partition) =>
      readLast(cluster, {
        topic,
        partition,
        from: beginnings.get(partition) ?? 0n,
        to: ends.get(partition) ?? 0n,
      }),
    ),
  );
  return lasts.filter((last) => last !== undefined);
}

interface Range {
  topic: string;
  partition: number;
  from: bigint;
  /** The first offset that is not in the range. */
  to: bigint;
}

async function readLast(cluster: Cluster, range: Range): Promise<BusRecord | undefined> {
  let to = range.to;
  for (let window = firstWindow; to > range.from; window *= windowGrowth) {
    const from = to - BigInt(window) > range.from ? to - BigInt(window) : range.from;
    const last = await lastWithin(cluster, { ...range, from, to });
    if (last !== undefined) return toBusRecord(range.topic, range.partition, last);
    to = from;
  }
  return undefined;
}

async function lastWithin(cluster: Cluster, range: Range): Promise<RawMessage | undefined> {
  let last: RawMessage | undefined;
  let next = range.from;
  while (next < range.to) {
    const messages = (await fetchFrom(cluster, range, next)).filter(({ offset }) => BigInt(offset) >= next);
    // The records of a batch may all have been removed, and its size is not reported.
    const reached = messages.at(-1)?.offset ?? next;
    last = messages.findLast(({ isControlRecord }) => isControlRecord !== true) ?? last;
    next = BigInt(reached) + 1n;
  }
  return last;
}

/**
 * The partition of a key: the same as for every client with Kafka's own rule, in any language. A topic's number of partitions is
 * read once: increasing it would separate a key from its earlier records.
 */
export function createTopicPartitions(link: ClusterLink) {
  const known = new Map<string, Promise<readonly number[]>>();
  const partition = Partitioners.DefaultPartitioner();

  function partitionIds(topic: string): Promise<readonly number[]> {
    const asked = known.get(topic) ?? link.ask((cluster) => askPartitionIds(cluster, topic));
    known.set(topic, asked);
    asked.catch(() => known.delete(topic));
    return asked;
  }

  return {
    /** @throws BusUnavailable `topic_missing` */
    partitionIds: async (topic: string): Promise<readonly number[]> => {
      requireBusName('topic', topic);
      return partitionIds(topic);
    },
    partitionOf: async (topic: string, key: string): Promise<number> => {
      requireBusName('topic', topic);
      const partitionMetadata = (await partitionIds(topic)).map(
        (partitionId) => ({ partitionId, leader: 0 }) as PartitionMetadata,
      );
      return partition({ topic, partitionMetadata, message: { key: Buffer.from(key), value: null } });
    },
  };
}

async function askPartitionIds(cluster: Cluster, topic: string): Promise<readonly number[]> {
  await cluster.addTargetTopic(topic);
  await cluster.refreshMetadataIfNecessary();
  const ids = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
  return ids.toSorted((one, other) => one - other);
}
