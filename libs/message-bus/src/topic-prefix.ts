/** Lets several installations share a Kafka cluster: the topics and groups of each begin with a prefix that its services do not see. */
import type { BusRecord, KafkaMessageBus } from './message-bus.ts';

/** The same bus for one installation. */
export function prefixTopics(bus: KafkaMessageBus, prefix: string): KafkaMessageBus {
  const outside = (name: string) => `${prefix}${name}`;
  const inside = (record: BusRecord): BusRecord => ({ ...record, topic: record.topic.slice(prefix.length) });
  return {
    isConnected: () => bus.isConnected(),
    publish: (topic, messages) => bus.publish(outside(topic), messages),
    subscribe: ({ group, topics, signal }, handle) =>
      bus.subscribe({ group: outside(group), topics: topics.map(outside), signal }, (batch) =>
        handle(batch.map(inside)),
      ),
    lastPerPartition: async (topic) => (await bus.lastPerPartition(outside(topic))).map(inside),
    partitionOf: (topic, key) => bus.partitionOf(outside(topic), key),
    address: async () => `${await bus.address()}/${prefix}`,
    close: () => bus.close(),
  };
}
