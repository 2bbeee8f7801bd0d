import { hash } from 'node:crypto';
import { TollgateError } from '@tollgate/service-kit';

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

/** Says how many partitions a topic has. */
export const topicStream = (topic: string) => `bustopic-${topic}`;

/** Of the streams of all partitions, whose beginning retention lets go of. */
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

/** The same key goes to the same partition for as long as a topic lives: do not change this. */
export function partitionOf(key: string, partitionCount: number): number {
  return hash('sha256', key, 'buffer').readUInt32BE(0) % partitionCount;
}
