/** The streams of the embedded bus, and the number of partitions of each topic. */
import { hash } from 'node:crypto';
import { notShown, type EventStore } from '@tollgate/event-store';
import { type Ids, TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';

/** One partition of a topic, as one group reads it. */
export interface GroupPartition {
  group: string;
  topic: string;
  partition: number;
}

// What Kafka allows. The colon, which is not among it, ends a topic in the names below: so no name is a prefix of another.
const namePattern = /^[a-zA-Z0-9._-]{1,100}$/;

/** @throws TollgateError unless `name` is 1 to 100 of the characters that Kafka allows. */
export function requireBusName(kind: 'topic' | 'group', name: string): void {
  if (namePattern.test(name)) return;
  throw new TollgateError(
    'bus_name_invalid',
    `The name of a ${kind} is 1 to 100 letters, digits, dots, underscores and dashes.`,
  );
}

/** Holds the number of partitions of a topic. */
export const topicStream = (topic: string) => `bustopic-${topic}`;

/** Of the streams of all partitions, whose handled records are deleted. */
export const partitionStreamPrefix = 'bus-';

/** The prefix of the streams of a topic's partitions, and of no other stream. */
export const topicPrefix = (topic: string) => `${partitionStreamPrefix}${topic}:`;

export const partitionStream = (topic: string, partition: number) => `${topicPrefix(topic)}${partition}`;

export const offsetStream = ({ group, topic, partition }: GroupPartition) =>
  `busoffset-${group}:${topic}:${partition}`;

export const leaseName = ({ group, topic, partition }: GroupPartition) =>
  `bus:${group}:${topic}:${partition}`;

/** Where the members of a group announce themselves. */
export const groupStream = (group: string) => `busgroup-${group}`;

/** The same key goes to the same partition as long as a topic exists: do not change this. */
export function partitionOf(key: string, partitionCount: number): number {
  return hash('sha256', key, 'buffer').readUInt32BE(0) % partitionCount;
}

const topicSchema = z.object({ partitions: z.int().min(1) });

/** The number of partitions of a topic, which is created on first use. It is fixed then: keys depend on it. */
export type PartitionCounts = (topic: string) => Promise<number>;

export function createPartitionCounts(
  { store, ids }: { store: EventStore; ids: Ids },
  partitions: number,
): PartitionCounts {
  const opened = new Map<string, Promise<number>>();

  async function read(topic: string): Promise<number> {
    for await (const { data } of store.read(topicStream(topic), { limit: 1 }))
      return topicSchema.parse(data).partitions;
    return 0;
  }

  async function open(topic: string): Promise<number> {
    requireBusName('topic', topic);
    const existing = await read(topic);
    if (existing > 0) return existing;
    const event = { id: ids.uuid(), type: 'TopicCreated', data: { partitions }, metadata: {} };
    await store.append(topicStream(topic), [event], 'no-stream');
    // Another process may have been faster, with another number.
    const count = await read(topic);
    if (count === 0) throw notShown(topicStream(topic));
    return count;
  }

  return (topic) => {
    const known = opened.get(topic) ?? open(topic);
    opened.set(topic, known);
    known.catch(() => opened.delete(topic));
    return known;
  };
}
