/** Reads topics and the event store of a system from outside, as another process does. */
import { type EventStore, beginning } from '@tollgate/event-store';
import {
  type PaymentRecord,
  decodePaymentRecord,
  gatewayPaymentsTopic,
  gatewayPayoutsTopic,
  gatewayTopics,
} from '@tollgate/gateway-api';
import {
  type BusRecord,
  type TopicReader,
  createEmbeddedTopicReader,
  prefixTopicReader,
} from '@tollgate/message-bus';
import { createKafkaTopicReader } from '@tollgate/message-bus/kafka';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { gatewayConfigSchema } from '../src/configuration/config.ts';
import { openDataDirectory } from '../src/configuration/data-directory.ts';
import { openBus } from '../src/composition/open-bus.ts';
import { openStore } from '../src/composition/open-store.ts';
import type { System } from './system.ts';

type Where = Pick<System, 'env' | 'dataDir'>;

/** The store of a system, to be closed by the caller. */
export async function storeOf({ env, dataDir }: Where): Promise<EventStore> {
  const { eventStore } = readConfig(gatewayConfigSchema, env);
  const file = openDataDirectory(dataDir).eventsFile;
  return (await openStore({ eventStore, file, clock: systemClock, log: silentLog })).store;
}

/** Of the topics of a system that has them elsewhere than in its event store. */
function kafkaReaderOf({ env }: Pick<Where, 'env'>): TopicReader | undefined {
  const { kafka } = readConfig(gatewayConfigSchema, env);
  if (kafka === undefined) return undefined;
  const connection = { ...kafka.connection, clock: systemClock, log: silentLog };
  return prefixTopicReader(createKafkaTopicReader(connection), kafka.topicPrefix);
}

/** What is on the topics of a system that has them elsewhere than in its event store, as text by topic. */
export async function textsOnKafka({ env }: Where): Promise<ReadonlyMap<string, string>> {
  const reader = kafkaReaderOf({ env });
  if (reader === undefined) return new Map();
  const texts = gatewayTopics.map(async ({ topic }) => {
    const records: string[] = [];
    const { signal } = new AbortController();
    for await (const { key, value, headers } of reader.readTopic(topic, { from: 'beginning', signal }))
      records.push(JSON.stringify({ key, value: new TextDecoder().decode(value), headers }));
    return [topic, records.join('\n')] as const;
  });
  return new Map(await Promise.all(texts));
}

/** The records of one payment that a new consumer group gets, once `isComplete` says so; gives up after twenty seconds. */
export async function recordsOf(
  system: Where,
  token: string,
  isComplete: (records: readonly PaymentRecord[]) => boolean,
): Promise<PaymentRecord[]> {
  const records: PaymentRecord[] = [];
  const stop = AbortSignal.timeout(20_000);
  const done = new AbortController();
  await using stops = new AsyncDisposableStack();
  const store = stops.adopt(await storeOf(system), (opened) => opened.close());
  const { kafka } = readConfig(gatewayConfigSchema, system.env);
  const deps = { kafka, store: async () => store, clock: systemClock, ids: systemIds, log: silentLog };
  const bus = await openBus({ ...deps, holder: 'e2e', isGone: () => false }, stops);
  const signal = AbortSignal.any([stop, done.signal]);
  const group = `e2e-${systemIds.hex(6)}`;
  await bus.subscribe({ group, topics: [gatewayPaymentsTopic], signal }, async (batch) => {
    records.push(...batch.filter(({ key }) => key === token).map(decode));
    if (isComplete(records)) done.abort();
  });
  return records;
}

function decode(record: BusRecord): PaymentRecord {
  const decoded = decodePaymentRecord(record);
  if (decoded.kind === 'unreadable') throw new Error(decoded.reason);
  return decoded.record;
}

type Sequences = Readonly<Record<string, readonly number[]>>;

/**
 * The numbers of the events of each payment and payout, as its stream has them and as they stand on the topics.
 */
export async function sequencesIn(store: EventStore): Promise<{ published: Sequences; stored: Sequences }> {
  const { signal } = new AbortController();
  const reader = createEmbeddedTopicReader({ store });
  const [published, stored] = [new Map<string, number[]>(), new Map<string, number[]>()];
  const add = (to: Map<string, number[]>, token: string, sequence: number) =>
    to.set(token, [...(to.get(token) ?? []), sequence]);
  for (const topic of [gatewayPaymentsTopic, gatewayPayoutsTopic])
    for await (const { key, headers } of reader.readTopic(topic, { from: 'beginning', signal }))
      add(published, key, Number(headers['ce_sequence']));
  for await (const item of store.subscribe({ from: beginning, prefixes: ['payment-', 'payout-'], signal })) {
    if (item.kind === 'caught-up') break;
    add(stored, item.stream.replace(/^(payment|payout)-/, ''), item.revision);
  }
  return { published: Object.fromEntries(published), stored: Object.fromEntries(stored) };
}
