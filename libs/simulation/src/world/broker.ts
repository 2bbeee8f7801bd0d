/** A Kafka with one partition for each topic, in memory: what it has taken, it keeps. */
import type { BusRecord, KafkaMessageBus } from '@tollgate/message-bus';

export interface Broker extends Pick<
  KafkaMessageBus,
  'publish' | 'lastPerPartition' | 'partitionOf' | 'address'
> {
  /** Everything that was published, in order. */
  records: readonly BusRecord[];
}

export function createBroker(address: string): Broker {
  const records: BusRecord[] = [];
  return {
    records,
    publish: async (topic, messages) => {
      for (const message of messages)
        records.push({ ...message, topic, partition: 0, offset: String(records.length), timestamp: 0 });
    },
    lastPerPartition: async (topic) => {
      const last = records.findLast((record) => record.topic === topic);
      return last === undefined ? [] : [last];
    },
    partitionOf: async () => 0,
    address: async () => address,
  };
}
