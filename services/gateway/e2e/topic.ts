/** Reads topics and the event store of a system from outside, like another process. */
import { createComputedTopicReader } from '@tollgate/topics';
import type { EventStore } from '@tollgate/event-store';
import {
  type PaymentRecord,
  decodePaymentRecord,
  gatewayPaymentsTopic,
  gatewayTopics,
} from '@tollgate/gateway-api';
import { type BusRecord, type TopicReader, prefixTopicReader } from '@tollgate/message-bus';
import { createKafkaTopicReader } from '@tollgate/message-bus/kafka';
import { readConfig, silentLog, systemClock } from '@tollgate/service-kit';
import { gatewayConfigSchema } from '../src/configuration/config.ts';
import { openDataDirectory } from '../src/configuration/data-directory.ts';
import { openStore } from '../src/composition/open-store.ts';
import type { System } from './system.ts';

type Where = Pick<System, 'env' | 'dataDir'>;

/** The store of a system, to be closed by the caller. */
export async function storeOf({ env, dataDir }: Where): Promise<EventStore> {
  const { eventStore } = readConfig(gatewayConfigSchema, env);
  const file = openDataDirectory(dataDir).eventsFile;
  return (await openStore({ eventStore, file, clock: systemClock, log: silentLog })).store;
}

/** Undefined without Kafka. */
function kafkaReaderOf({ env }: Pick<Where, 'env'>): TopicReader | undefined {
  const { kafka } = readConfig(gatewayConfigSchema, env);
  if (kafka === undefined) return undefined;
  const connection = { ...kafka.connection, clock: systemClock, log: silentLog };
  return prefixTopicReader(createKafkaTopicReader(connection), kafka.topicPrefix);
}

/** Reads topics on Kafka; without Kafka, the public ones are computed. */
const readerOf = (system: Where, store: EventStore): TopicReader =>
  kafkaReaderOf(system) ?? createComputedTopicReader({ store });

/** The records of all topics, as text by topic. */
export async function textsOnTopics(system: Where): Promise<ReadonlyMap<string, string>> {
  const store = await storeOf(system);
  const { signal } = new AbortController();
  const texts = gatewayTopics.map(async ({ topic }) => {
    const records: string[] = [];
    for await (const record of readerOf(system, store).readTopic(topic, { from: 'beginning', signal })) {
      const { key, value, headers } = record;
      records.push(JSON.stringify({ key, value: new TextDecoder().decode(value), headers }));
    }
    return [topic, records.join('\n')] as const;
  });
  return new Map(await Promise.all(texts).finally(() => store.close()));
}

/** The records of one payment, on Kafka or computed, once `isComplete` holds; fails after twenty seconds. */
export async function recordsOf(
  system: Where,
  token: string,
  isComplete: (records: readonly PaymentRecord[]) => boolean,
): Promise<PaymentRecord[]> {
  const records: PaymentRecord[] = [];
  const store = await storeOf(system);
  try {
    const options = { from: 'beginning', isFollowing: true, signal: AbortSignal.timeout(20_000) } as const;
    for await (const record of readerOf(system, store).readTopic(gatewayPaymentsTopic, options)) {
      if (record.key === token) records.push(decode(record));
      if (isComplete(records)) break;
    }
  } finally {
    await store.close();
  }
  return records;
}

function decode(record: BusRecord): PaymentRecord {
  const decoded = decodePaymentRecord(record);
  if (decoded.kind === 'unreadable') throw new Error(decoded.reason);
  return decoded.record;
}
