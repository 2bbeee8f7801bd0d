import { Partitioners, type Cluster, type PartitionMetadata } from 'kafkajs';
import { requireBusName } from '../embedded/records.ts';
import type { ClusterLink } from './cluster-link.ts';

/** Where the records of a key go: the same as for every client that uses Kafka's own rule, in any language. */
export interface TopicPartitions {
  /** @throws BusUnavailable `topic_missing` */
  partitionIds(topic: string): Promise<readonly number[]>;
  partitionOf(topic: string, key: string): Promise<number>;
}

/** A topic's number of partitions is read once: increasing it would separate a key from its earlier records. */
export function createTopicPartitions(link: ClusterLink): TopicPartitions {
  const known = new Map<string, Promise<readonly number[]>>();
  const partition = Partitioners.DefaultPartitioner();

  function partitionIds(topic: string): Promise<readonly number[]> {
    const asked = known.get(topic) ?? link.ask((cluster) => askPartitionIds(cluster, topic));
    known.set(topic, asked);
    asked.catch(() => known.delete(topic));
    return asked;
  }

  return {
    partitionIds: async (topic) => {
      requireBusName('topic', topic);
      return partitionIds(topic);
    },
    partitionOf: async (topic, key) => {
      requireBusName('topic', topic);
      const partitionMetadata = (await partitionIds(topic)).map(
        (partitionId) => ({ partitionId, leader: 0 }) as PartitionMetadata,
      );
      return partition({ topic, partitionMetadata, message: { key: Buffer.from(key), value: null } });
    },
  };
}

async function askPartitionIds(cluster: Cluster, topic: string): Promise<readonly number[]> {
  await cluster.addTargetTopic(topic);
  await cluster.refreshMetadataIfNecessary();
  const ids = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
  return ids.toSorted((one, other) => one - other);
}
