/** An in-memory Kafka with one partition per topic. It keeps every accepted record. */
import type { BusRecord, KafkaMessageBus } from '@tollgate/message-bus';

export interface Broker extends Pick<
  KafkaMessageBus,
  'publish' | 'lastPerPartition' | 'partitionOf' | 'address'
> {
  /** All published records, in order. */
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
