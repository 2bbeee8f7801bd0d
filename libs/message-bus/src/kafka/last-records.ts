import type { Cluster } from 'kafkajs';
import type { BusRecord, PartitionEnd } from '../message-bus.ts';
import { fetchFrom, offsetsOf, type RawMessage } from './raw-fetch.ts';
import { toBusRecord } from './record-mapping.ts';

/** The newest offset may hold no record: compaction removes some, and control records are not for us. */
const firstWindow = 1;
const windowGrowth = 16;

/** Where each partition ends. */
export async function readPartitionEnds(
  cluster: Cluster,
  topic: string,
  partitions: readonly number[],
): Promise<PartitionEnd[]> {
  const ends = await endsOf(cluster, topic, partitions);
  return [...ends].map(([partition, end]) => ({ partition, end: String(end) }));
}

async function endsOf(
  cluster: Cluster,
  topic: string,
  partitions: readonly number[],
): Promise<Map<number, bigint>> {
  await cluster.addTargetTopic(topic);
  await cluster.refreshMetadata();
  return offsetsOf(cluster, { topic, partitions, at: { fromBeginning: false } });
}

/** The last record of each partition that has one. */
export async function readLastRecords(
  cluster: Cluster,
  topic: string,
  partitions: readonly number[],
): Promise<BusRecord[]> {
  const ends = await endsOf(cluster, topic, partitions);
  const beginnings = await offsetsOf(cluster, { topic, partitions, at: { fromBeginning: true } });
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
    // The records of a batch may all have been removed, and nothing says how far it reached.
    const reached = messages.at(-1)?.offset ?? next;
    last = messages.findLast(({ isControlRecord }) => isControlRecord !== true) ?? last;
    next = BigInt(reached) + 1n;
  }
  return last;
}
