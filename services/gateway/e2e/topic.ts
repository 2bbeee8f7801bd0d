/** Reads topics and the event store of a system from outside, like another process. */
import { readTopic } from '@tollgate/topics';
import type { EventStore } from '@tollgate/event-store';
import {
  type PaymentRecord,
  decodePaymentRecord,
  gatewayPaymentsTopic,
  gatewayTopics,
} from '@tollgate/gateway-api';
import { type BusRecord, prefixTopics } from '@tollgate/message-bus';
import { createKafkaMessageBus } from '@tollgate/message-bus/kafka';
import { readConfig, silentLog, systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect } from 'vitest';
import { gatewayConfigSchema } from '../src/configuration/config.ts';
import { openDataDirectory } from '../src/configuration/data-directory.ts';
import { openStore } from '../src/composition/open-store.ts';
import { readFromBus } from './kafka-topic.ts';
import type { System } from './system.ts';

type Where = Pick<System, 'env' | 'dataDir'>;

/** The store of a system, to be closed by the caller. */
export async function storeOf({ env, dataDir }: Where): Promise<EventStore> {
  const { eventStore } = readConfig(gatewayConfigSchema, env);
  const file = openDataDirectory(dataDir).eventsFile;
  return openStore({ eventStore, file, clock: systemClock, log: silentLog });
}

/** The records of a topic on Kafka; without Kafka, those of a public one are computed. */
async function recordsOn({ env }: Where, store: EventStore, topic: string): Promise<BusRecord[]> {
  const { kafka } = readConfig(gatewayConfigSchema, env);
  const options = { from: 'beginning', signal: new AbortController().signal } as const;
  if (kafka === undefined) return Array.fromAsync(readTopic(store, topic, options));
  const connection = { ...kafka.connection, clock: systemClock, log: silentLog };
  return readFromBus(prefixTopics(createKafkaMessageBus(connection), kafka.topicPrefix), topic);
}

/** The records of all topics, as text by topic. */
export async function textsOnTopics(system: Where): Promise<ReadonlyMap<string, string>> {
  const store = await storeOf(system);
  const texts = gatewayTopics.map(async ({ topic }) => {
    const records = (await recordsOn(system, store, topic)).map(({ key, value, headers }) =>
      JSON.stringify({ key, value: new TextDecoder().decode(value), headers }),
    );
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
  let records: PaymentRecord[] = [];
  const store = await storeOf(system);
  const read = async () => {
    const all = await recordsOn(system, store, gatewayPaymentsTopic);
    records = all.filter(({ key }) => key === token).map(decode);
    expect(isComplete(records)).toBe(true);
  };
  await eventually(read, { timeoutMs: 20_000 }).finally(() => store.close());
  return records;
}

function decode(record: BusRecord): PaymentRecord {
  const decoded = decodePaymentRecord(record);
  if (decoded.kind === 'unreadable') throw new Error(decoded.reason);
  return decoded.record;
}
