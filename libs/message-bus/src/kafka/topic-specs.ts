import type { Clock } from '@tollgate/service-kit';
import type { Admin, ConfigResourceTypes } from 'kafkajs';
import { requireBusName } from '../embedded/records.ts';
import { clientRetry, createKafkaClient, type KafkaConnectionOptions } from './connection.ts';
import { isYoungTopic, persistently, toBusUnavailable, within } from './kafka-failure.ts';

/** Required settings of a topic. */
export interface TopicSpec {
  topic: string;
  /** Never increased while the topic exists: a key would be separated from its earlier records. */
  partitions: number;
  /** Copies of each record. */
  replication: number;
  /** Copies that a record needs before it is confirmed. */
  minInsyncReplicas: number;
  /** How long a record is kept, milliseconds. */
  retentionMs: number | 'forever';
  /** Whether old records are removed by age, or when a newer one has the same key. */
  cleanup: 'delete' | 'compact';
}

/** One difference between a topic and its spec. */
export interface TopicDifference {
  topic: string;
  /** A field of the spec, or `topic` for one that does not exist. */
  setting: keyof TopicSpec;
  expected: string;
  actual: string;
}

export interface TopicTools extends KafkaConnectionOptions {
  clock: Clock;
  /** Of the whole, milliseconds; 30,000 by default. */
  deadlineMs?: number;
}

const deadlineMsDefault = 30_000;
// Node finds no such export in kafkajs, though its types have one.
const topicResource = 2 as ConfigResourceTypes.TOPIC;

/** Compares and changes nothing. @throws BusUnavailable */
export function checkTopics(tools: TopicTools, specs: readonly TopicSpec[]): Promise<TopicDifference[]> {
  return withAdmin(tools, specs, (admin) => differences(admin, specs));
}

/**
 * Creates missing topics. Existing ones are left alone, and their differences returned.
 *
 * @throws BusUnavailable
 */
export function ensureTopics(tools: TopicTools, specs: readonly TopicSpec[]): Promise<TopicDifference[]> {
  return withAdmin(tools, specs, async (admin) => {
    const existing = new Set(await admin.listTopics());
    const missing = specs.filter(({ topic }) => !existing.has(topic));
    // Of two processes that create a topic concurrently, one gets an error that it exists; the comparison shows whether it
    // differs.
    if (missing.length > 0) {
      await admin.createTopics({ topics: missing.map(toTopicConfig), waitForLeaders: false });
      // The client waits for leaders, but reports a topic that a broker does not know yet as missing.
      const topics = missing.map(({ topic }) => topic);
      await persistently(tools.clock, () => admin.fetchTopicMetadata({ topics }), isYoungTopic);
    }
    return differences(admin, specs);
  });
}

async function withAdmin<Result>(
  { clock, deadlineMs = deadlineMsDefault, ...connection }: TopicTools,
  specs: readonly TopicSpec[],
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  for (const { topic } of specs) requireBusName('topic', topic);
  const { kafka, sever } = createKafkaClient(connection);
  const admin = kafka.admin({ retry: clientRetry });
  try {
    return await within(
      clock,
      deadlineMs,
      admin.connect().then(() => work(admin)),
    );
  } catch (error) {
    throw toBusUnavailable(error);
  } finally {
    sever();
  }
}

const configOf = (spec: TopicSpec): Readonly<Record<string, string>> => ({
  'min.insync.replicas': String(spec.minInsyncReplicas),
  'retention.ms': spec.retentionMs === 'forever' ? '-1' : String(spec.retentionMs),
  'cleanup.policy': spec.cleanup,
});

const settingOf: Readonly<Record<string, keyof TopicSpec>> = {
  'min.insync.replicas': 'minInsyncReplicas',
  'retention.ms': 'retentionMs',
  'cleanup.policy': 'cleanup',
};

const toTopicConfig = (spec: TopicSpec) => ({
  topic: spec.topic,
  numPartitions: spec.partitions,
  replicationFactor: spec.replication,
  configEntries: Object.entries(configOf(spec)).map(([name, value]) => ({ name, value })),
});

async function differences(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicDifference[]> {
  const existing = new Set(await admin.listTopics());
  const present = specs.filter(({ topic }) => existing.has(topic));
  const facts = present.length === 0 ? new Map<string, Map<string, string>>() : await factsOf(admin, present);
  return specs.flatMap((spec) => {
    const { topic } = spec;
    const actual = facts.get(topic);
    if (actual === undefined)
      return [{ topic, setting: 'topic', expected: 'exists', actual: 'does not exist' } as const];
    const expected: Record<string, string> = {
      partitions: String(spec.partitions),
      replication: String(spec.replication),
      ...configOf(spec),
    };
    return Object.entries(expected)
      .filter(([name, value]) => actual.get(name) !== value)
      .map(([name, value]) => ({
        topic,
        setting: settingOf[name] ?? (name as keyof TopicSpec),
        expected: value,
        actual: actual.get(name) ?? 'unknown',
      }));
  });
}

async function factsOf(admin: Admin, specs: readonly TopicSpec[]): Promise<Map<string, Map<string, string>>> {
  const topics = specs.map(({ topic }) => topic);
  const { topics: metadata } = await admin.fetchTopicMetadata({ topics });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: topicResource, name, configNames: Object.keys(settingOf) })),
  });
  return new Map(
    metadata.map(({ name, partitions }) => {
      const configs = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
      // Of partitions that differ, the fewest copies count.
      const replication = Math.min(...partitions.map(({ replicas }) => replicas.length));
      return [
        name,
        new Map([
          ['partitions', String(partitions.length)],
          ['replication', String(replication)],
          ...configs.map(({ configName, configValue }) => [configName, configValue] as const),
        ]),
      ];
    }),
  );
}
