/** Lets several installations share a cluster: the topics and groups of each begin with a prefix that its services do not see. */
import type { BusRecord, MessageBus } from './message-bus.ts';
import type { TopicReader } from './topic-reader.ts';

/** The same bus, whose topics and groups are those of the installation that the prefix names. */
export function prefixTopics(bus: MessageBus, prefix: string): MessageBus {
  const outside = (name: string) => `${prefix}${name}`;
  const inside = withoutPrefix(prefix);
  return {
    isConnected: () => bus.isConnected(),
    publish: (topic, messages) => bus.publish(outside(topic), messages),
    subscribe: ({ group, topics, signal }, handle) =>
      bus.subscribe({ group: outside(group), topics: topics.map(outside), signal }, (batch) =>
        handle(batch.map(inside)),
      ),
    lastPerPartition: async (topic) => (await bus.lastPerPartition(outside(topic))).map(inside),
    endPerPartition: (topic) => bus.endPerPartition(outside(topic)),
    partitionOf: (topic, key) => bus.partitionOf(outside(topic), key),
    addressOf: (topic) => bus.addressOf(outside(topic)),
    close: () => bus.close(),
  };
}

/** The same for one who reads. */
export function prefixTopicReader(reader: TopicReader, prefix: string): TopicReader {
  const inside = withoutPrefix(prefix);
  return {
    async *readTopic(topic, options) {
      for await (const record of reader.readTopic(`${prefix}${topic}`, options)) yield inside(record);
    },
  };
}

const withoutPrefix =
  (prefix: string) =>
  (record: BusRecord): BusRecord => ({ ...record, topic: record.topic.slice(prefix.length) });
