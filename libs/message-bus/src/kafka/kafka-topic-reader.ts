import { silentLog, type Clock, type Log } from '@tollgate/service-kit';
import type { Cluster } from 'kafkajs';
import { requireBusName } from '../embedded/records.ts';
import { BusUnavailable } from '../message-bus.ts';
import type { BusRecord } from '../message-bus.ts';
import type { ReadTopicOptions, TopicReader } from '../message-bus.ts';
import { createClusterLink, type ClusterLink } from './cluster-link.ts';
import type { KafkaConnectionOptions } from './connection.ts';
import { createTopicPartitions, fetchFrom, offsetsOf } from './raw-fetch.ts';
import { toBusRecord } from './record-mapping.ts';

export interface KafkaTopicReaderOptions extends Omit<KafkaConnectionOptions, 'log'> {
  clock: Clock;
  log?: Log;
}

const deadlineMs = 15_000;
/** Between two polls for further records, milliseconds. */
const followPauseMs = 200;

/** Reads by plain fetches, without a group, commits or any trace. */
export function createKafkaTopicReader(options: KafkaTopicReaderOptions): TopicReader {
  const { clock, log = silentLog } = options;
  return {
    async *readTopic(topic, how) {
      requireBusName('topic', topic);
      const link = createClusterLink({ connection: { ...options, log }, clock, deadlineMs });
      try {
        const partitions = await partitionsOf(link, topic);
        if (partitions.length > 0) yield* readPartitions({ link, clock, topic, partitions }, how);
      } finally {
        await link.close();
      }
    },
  };
}

/** None for a topic that does not exist. */
async function partitionsOf(link: ClusterLink, topic: string): Promise<readonly number[]> {
  try {
    return await createTopicPartitions(link).partitionIds(topic);
  } catch (error) {
    if (error instanceof BusUnavailable && error.code === 'topic_missing') return [];
    throw error;
  }
}

interface Reading {
  link: ClusterLink;
  clock: Clock;
  topic: string;
  partitions: readonly number[];
}

async function* readPartitions(
  reading: Reading,
  { from, isFollowing = false, signal }: ReadTopicOptions,
): AsyncGenerator<BusRecord> {
  const { link, clock, partitions } = reading;
  const ends = await link.ask((cluster) => offsetsAt(cluster, reading, 'end'));
  const next = new Map(await link.ask((cluster) => offsetsAt(cluster, reading, from)));
  const isAtEnd = (partition: number) =>
    !isFollowing && (next.get(partition) ?? 0n) >= (ends.get(partition) ?? 0n);
  while (!signal.aborted && !partitions.every(isAtEnd)) {
    let hasFound = false;
    for (const partition of partitions) {
      if (isAtEnd(partition)) continue;
      const place = next.get(partition) ?? 0n;
      const { records, after } = await link.ask((cluster) =>
        fetchRecords(cluster, reading, partition, place),
      );
      hasFound ||= after > place;
      // An empty range before the end was removed: it is skipped one by one, because its size is not reported.
      next.set(partition, after > place || isFollowing ? after : place + 1n);
      for (const record of records) {
        if (signal.aborted) return;
        if (isFollowing || BigInt(record.offset) < (ends.get(partition) ?? 0n)) yield record;
      }
    }
    if (!hasFound && isFollowing) await clock.sleep(followPauseMs, signal).catch(() => undefined);
  }
}

async function offsetsAt(
  cluster: Cluster,
  { topic, partitions }: Reading,
  from: ReadTopicOptions['from'],
): Promise<Map<number, bigint>> {
  if (from === 'beginning' || from === 'end')
    return offsetsOf(cluster, { topic, partitions, at: { fromBeginning: from === 'beginning' } });
  const [found, ends] = await Promise.all([
    offsetsOf(cluster, { topic, partitions, at: { fromTimestamp: from.timestamp } }),
    offsetsOf(cluster, { topic, partitions, at: { fromBeginning: false } }),
  ]);
  // For a partition without later records, the answer is -1.
  return new Map([...found].map(([id, offset]) => [id, offset < 0n ? (ends.get(id) ?? 0n) : offset]));
}

async function fetchRecords(
  cluster: Cluster,
  { topic }: Reading,
  partition: number,
  place: bigint,
): Promise<{ records: BusRecord[]; after: bigint }> {
  const messages = (await fetchFrom(cluster, { topic, partition }, place)).filter(
    ({ offset }) => BigInt(offset) >= place,
  );
  const last = messages.at(-1)?.offset;
  return {
    records: messages
      .filter(({ isControlRecord }) => isControlRecord !== true)
      .map((message) => toBusRecord(topic, partition, message)),
    after: last === undefined ? place : BigInt(last) + 1n,
  };
}
