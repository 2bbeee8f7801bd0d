import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaseName, offsetStream, partitionOf, partitionStream, topicPrefix, topicStream } from './topics.ts';

const name = fc.stringMatching(/^[ab1.-]{1,3}$/);
const groupPartition = fc.record({ group: name, topic: name, partition: fc.nat(12) });

describe('the streams of the bus', () => {
  it('differ by topic and partition', () => {
    fc.assert(
      fc.property(groupPartition, groupPartition, (one, other) => {
        const isSame = one.topic === other.topic && one.partition === other.partition;
        const streams = [one, other].map(({ topic, partition }) => partitionStream(topic, partition));
        expect(streams[0] === streams[1]).toBe(isSame);
      }),
    );
  });

  it('of a topic, and no other streams, begin with its prefix', () => {
    fc.assert(
      fc.property(name, groupPartition, (topic, other) => {
        const stream = partitionStream(other.topic, other.partition);
        expect(stream.startsWith(topicPrefix(topic))).toBe(topic === other.topic);
        for (const each of [offsetStream(other), topicStream(other.topic), `lease-${leaseName(other)}`]) {
          expect(each.startsWith(topicPrefix(topic))).toBe(false);
        }
      }),
    );
  });

  it('of offsets and leases differ by group, topic and partition', () => {
    fc.assert(
      fc.property(groupPartition, groupPartition, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(offsetStream(one) === offsetStream(other)).toBe(isSame);
        expect(leaseName(one) === leaseName(other)).toBe(isSame);
      }),
    );
  });
});

describe('the partition of a key', () => {
  it('is the one that it has always been', () => {
    expect(['pay_1', 'pay_2', '', 'é'].map((key) => partitionOf(key, 16))).toEqual([1, 6, 2, 14]);
  });

  it('is one of those that the topic has', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 50 }), (key, partitionCount) => {
        const partition = partitionOf(key, partitionCount);
        expect(Number.isInteger(partition) && partition >= 0 && partition < partitionCount).toBe(true);
      }),
    );
  });
});
