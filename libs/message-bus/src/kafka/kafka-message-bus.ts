import { silentLog, type Clock, type Log } from '@tollgate/service-kit';
import type { Cluster } from 'kafkajs';
import { requireBusName } from '../embedded/records.ts';
import { BusUnavailable, type KafkaMessageBus } from '../message-bus.ts';
import { createClusterLink } from './cluster-link.ts';
import type { KafkaConnectionOptions } from './connection.ts';
import { consumeGroup, sessionTimeoutMsDefault } from './group-consumer.ts';
import { createTopicPartitions, readLastRecords } from './raw-fetch.ts';
import { createTopicWriter, type TopicWriter } from './topic-writer.ts';

export interface KafkaMessageBusOptions extends Omit<KafkaConnectionOptions, 'log'> {
  clock: Clock;
  log?: Log;
  /** After which a request that Kafka has not confirmed is abandoned, milliseconds; 15,000 by default. */
  deadlineMs?: number;
  /** How many partitions a subscription handles at the same time; 4 by default. */
  concurrency?: number;
  /** After which a member that is silent loses its partitions, milliseconds; 30,000 by default, at least 6,000. */
  sessionTimeoutMs?: number;
}

const deadlineMsDefault = 15_000;
const concurrencyDefault = 4;

/** A message bus on Kafka. Creating it needs no broker: it connects, and reconnects, when needed. */
export function createKafkaMessageBus(options: KafkaMessageBusOptions): KafkaMessageBus {
  const { clock, log = silentLog, deadlineMs = deadlineMsDefault } = options;
  const { concurrency = concurrencyDefault, sessionTimeoutMs = sessionTimeoutMsDefault } = options;
  const connection = { ...options, log };
  const link = createClusterLink({ connection, clock, deadlineMs });
  const partitions = createTopicPartitions(link);
  const writers = new Map<string, TopicWriter>();
  const memberships = new Set<Promise<void>>();
  const closing = new AbortController();
  const requireOpen = () => {
    if (closing.signal.aborted)
      throw new BusUnavailable('bus_closed', 'The message bus is closed.', { retryable: false });
  };

  /** A producer per topic: a failure of one does not affect sends to another. */
  function writerOf(topic: string): TopicWriter {
    const partitionOf = (key: string) => partitions.partitionOf(topic, key);
    const writer =
      writers.get(topic) ?? createTopicWriter({ connection, topic, partitionOf, clock, deadlineMs });
    writers.set(topic, writer);
    return writer;
  }

  return {
    isConnected: link.isConnected,
    publish: async (topic, messages) => {
      requireOpen();
      requireBusName('topic', topic);
      await writerOf(topic).write(messages);
    },
    subscribe: async ({ group, topics, signal }, handle) => {
      requireOpen();
      requireBusName('group', group);
      for (const topic of topics) requireBusName('topic', topic);
      const membership = { group, topics, signal: AbortSignal.any([signal, closing.signal]) };
      const consuming = consumeGroup(
        { connection, clock, concurrency, sessionTimeoutMs, handle },
        membership,
      );
      memberships.add(consuming);
      await consuming.finally(() => memberships.delete(consuming));
    },
    lastPerPartition: async (topic) => {
      requireOpen();
      const ids = await partitions.partitionIds(topic);
      return link.ask((cluster) => readLastRecords(cluster, topic, ids));
    },
    partitionOf: async (topic, key) => {
      requireOpen();
      return partitions.partitionOf(topic, key);
    },
    address: async () => {
      requireOpen();
      return `kafka/${await link.ask(clusterIdOf)}`;
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled([...memberships, ...[...writers.values()].map((writer) => writer.close())]);
      await link.close();
    },
  };
}

/** The cluster's own id. Every version of Kafka that kafkajs supports has one. */
async function clusterIdOf(cluster: Cluster): Promise<string> {
  const { clusterId } = (await cluster.metadata()) as { clusterId?: unknown };
  if (typeof clusterId === 'string' && clusterId !== '') return clusterId;
  throw new BusUnavailable('bus_without_name', 'The cluster does not report its id.');
}
