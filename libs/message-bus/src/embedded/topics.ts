import { notShown, type EventStore } from '@tollgate/event-store';
import type { Ids } from '@tollgate/service-kit';
import { z } from 'zod';
import { requireBusName, topicStream } from './partition-streams.ts';

const topicSchema = z.object({ partitions: z.int().min(1) });

export interface TopicsOptions {
  store: EventStore;
  ids: Ids;
  /** Of topics that do not exist yet. */
  partitions: number;
}

/** Knows how many partitions each topic has. The number is fixed when a topic is used first: keys depend on it. */
export interface Topics {
  /** Creates the topic where it does not exist. */
  partitionCount(topic: string): Promise<number>;
  /** 0 where the topic does not exist. */
  existingPartitionCount(topic: string): Promise<number>;
}

/** How many partitions a topic has; 0 where it does not exist. */
export async function readPartitionCount(store: EventStore, topic: string): Promise<number> {
  requireBusName('topic', topic);
  for await (const { data } of store.read(topicStream(topic), { limit: 1 }))
    return topicSchema.parse(data).partitions;
  return 0;
}

export function createTopics({ store, ids, partitions }: TopicsOptions): Topics {
  const opened = new Map<string, Promise<number>>();
  const existingPartitionCount = (topic: string) => readPartitionCount(store, topic);

  async function create(topic: string): Promise<number> {
    const event = { id: ids.uuid(), type: 'TopicCreated', data: { partitions }, metadata: {} };
    await store.append(topicStream(topic), [event], 'no-stream');
    // Another process may have been faster, with another number.
    const count = await existingPartitionCount(topic);
    if (count === 0) throw notShown(topicStream(topic));
    return count;
  }

  const open = async (topic: string) => (await existingPartitionCount(topic)) || create(topic);

  return {
    existingPartitionCount,
    partitionCount: (topic) => {
      const known = opened.get(topic) ?? open(topic);
      opened.set(topic, known);
      known.catch(() => opened.delete(topic));
      return known;
    },
  };
}
