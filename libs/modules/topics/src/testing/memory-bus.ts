import type { BusRecord, Message } from '@tollgate/message-bus';
import type { EventPublisherDependencies } from '../event-publisher.ts';

export interface MemoryBus {
  bus: EventPublisherDependencies['bus'];
  /** Records of a topic, in order. */
  recordsOf(topic: string): readonly BusRecord[];
  count(): number;
  /** The next publish writes this many of its messages, and fails. */
  failAfter(written: number): void;
  /** Every publish and every read of the last records fails until it is up again. */
  setUp(isUp: boolean): void;
  /** Loses all but the first records of a partition, like a broker that lost its disk. */
  lose(topic: string, partition: number, kept: number): void;
}

let busCount = 0;

/** A bus in memory that places keys like real ones, and fails on demand. */
export function createMemoryBus(partitions = 3): MemoryBus {
  const partitionOf = (key: string) => Buffer.from(key).reduce((sum, byte) => sum + byte, 0) % partitions;
  const name = `memory-${(busCount += 1)}`;
  const records: BusRecord[] = [];
  const faults: number[] = [];
  let isUp = true;
  const requireUp = () => {
    if (!isUp) throw new Error('the bus is gone');
  };
  return {
    bus: {
      publish: async (topic: string, messages: readonly Message[]) => {
        requireUp();
        const written = faults.shift();
        for (const message of messages.slice(0, written)) {
          const partition = partitionOf(message.key);
          records.push({ ...message, topic, partition, offset: String(records.length), timestamp: 0 });
        }
        if (written !== undefined) throw new Error('the bus is gone');
      },
      lastPerPartition: async (topic) => {
        requireUp();
        const ofTopic = records.filter((record) => record.topic === topic);
        return [...new Map(ofTopic.map((record) => [record.partition, record])).values()];
      },
      partitionOf: async (_topic, key) => partitionOf(key),
      address: async () => {
        requireUp();
        return name;
      },
    },
    recordsOf: (topic) => records.filter((record) => record.topic === topic),
    count: () => records.length,
    failAfter: (written) => void faults.push(written),
    setUp: (up) => void (isUp = up),
    lose: (topic, partition, kept) => {
      const isOfIt = (record: BusRecord) => record.topic === topic && record.partition === partition;
      const gone = new Set(records.filter(isOfIt).slice(kept));
      records.splice(0, records.length, ...records.filter((record) => !gone.has(record)));
    },
  };
}
