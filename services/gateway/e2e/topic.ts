/** Reads topics and the event store of a system from outside, like another process. */
import { readTopic } from '@tollgate/topics';
import type { EventStore } from '@tollgate/event-store';
import {
  type PaymentRecord,
  decodePaymentRecord,
  gatewayPaymentsTopic,
  gatewayTopics,
} from '@tollgate/gateway-api';
import { type BusRecord, type KafkaMessageBus, prefixTopics } from '@tollgate/message-bus';
import { createKafkaMessageBus } from '@tollgate/message-bus/kafka';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect } from 'vitest';
import { gatewayConfigSchema } from '../src/configuration/config.ts';
import { openDataDirectory } from '../src/configuration/data-directory.ts';
import { openStore } from '../src/composition/open-store.ts';
import type { System } from './system.ts';

type Where = Pick<System, 'env' | 'dataDir'>;

/** The store of a system, to be closed by the caller. */
export async function storeOf({ env, dataDir }: Where): Promise<EventStore> {
  const { eventStore } = readConfig(gatewayConfigSchema, env);
  const file = openDataDirectory(dataDir).eventsFile;
  return openStore({ eventStore, file, clock: systemClock, log: silentLog });
}

/** All records of a topic, in order per partition; closes the bus. */
async function readFromBus(bus: KafkaMessageBus, topic: string): Promise<BusRecord[]> {
  try {
    const missing = new Map((await bus.lastPerPartition(topic)).map((last) => [last.partition, last.offset]));
    const records: BusRecord[] = [];
    if (missing.size === 0) return records;
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, AbortSignal.timeout(30_000)]);
    await bus.subscribe({ group: `e2e-${systemIds.hex(6)}`, topics: [topic], signal }, async (batch) => {
      records.push(...batch);
      for (const { partition, offset } of batch)
        if (missing.get(partition) === offset) missing.delete(partition);
      if (missing.size === 0) done.abort();
    });
    return records;
  } finally {
    await bus.close();
  }
}

/** The records of a topic on Kafka; without Kafka, those of a public one are computed. */
export async function recordsOn(
  { env }: Pick<Where, 'env'>,
  store: EventStore,
  topic: string,
): Promise<BusRecord[]> {
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
