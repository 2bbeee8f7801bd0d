/**
 * `npm run bench -- bus`: callbacks taken per second (HTTP, durable) on the embedded bus; if KAFKA_BROKERS is set, on Kafka,
 * with events published per second and the delay from an append to a consumer. The bare Kafka client is measured by
 * libs/message-bus/bench/kafka.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callbackBodyBytesMax, registerCallbackRoutes } from '@tollgate/callback-ingester';
import { createEventPublisher } from '@tollgate/event-publisher';
import { type EventStore, createEmbeddedEventStore } from '@tollgate/event-store';
import { gatewayPaymentsTopic, gatewayTopics } from '@tollgate/gateway-api';
import type { KafkaMessageBus, MessageBus } from '@tollgate/message-bus';
import { ensureTopics } from '@tollgate/message-bus/kafka';
import { paymentStream } from '@tollgate/payment-domain';
import {
  answerInJsonOnly,
  httpServerOptions,
  listen,
  readConfig,
  silentLog,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { callbackPath, parseCallbackSecrets } from '@tollgate/provider/callbacks';
import Fastify from 'fastify';
import { Agent, request } from 'undici';
import { kafkaEnvironmentSchema, toKafkaConfig, toTopicSpec } from '../src/configuration/kafka-config.ts';
import { openBus } from '../src/composition/open-bus.ts';

const connections = 64;
const delaySamples = 1_000;
const delayEveryMs = 5;

const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(46)} ${figure}\n`);
const perSecond = (count: number, sinceMs: number) =>
  `${Math.round((count * 1000) / (performance.now() - sinceMs)).toLocaleString('en')}/s`;

/** Does `count` pieces of work, so many at once. */
async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let index = next++; index < count; index = next++) await work(index);
    }),
  );
}

const requested = (token: string) => ({
  id: systemIds.uuid(),
  type: 'PaymentRequested',
  data: {
    ...{ environment: 'sandbox', team: 'bench', fingerprint: 'f' },
    terms: { kind: 'hosted', product: 'Tea', amount: 1250, currency: 'EUR', needConfirmation: false },
    attempt: {
      ...{ number: 1, account: 'main', providerOrderNumber: `${token}.1` },
      ...{ sendBy: 1, answerBy: 2, quietUntil: 3 },
    },
  },
  metadata: {
    ...{ schemaVersion: 1, correlationId: 'c', causationId: 'c', recordedAt: Date.now() },
    actor: { kind: 'service', name: 'bench' },
  },
});

const append = (store: EventStore, token: string) =>
  store.append(paymentStream(token), [requested(token)], 'no-stream');

async function benchCallbacks(bus: MessageBus, count: number): Promise<void> {
  const secrets = parseCallbackSecrets(`k1:${'s'.repeat(32)}`);
  const app = Fastify(httpServerOptions({ bodyLimitBytes: callbackBodyBytesMax }));
  answerInJsonOnly(app, silentLog);
  registerCallbackRoutes(app, { bus, secrets, lifetimeMs: Infinity, clock: systemClock, log: silentLog });
  const port = await listen(app, { host: '127.0.0.1', port: 0, variable: 'CALLBACK_PORT' });
  const dispatcher = new Agent({ connections });
  const body = JSON.stringify({
    token: 'a'.repeat(32),
    type: 'payment',
    status: 'approved',
    orderNumber: 'x',
    amount: 1250,
    currency: 'EUR',
  });
  const since = performance.now();
  await inParallel(count, async (index) => {
    const url = `http://127.0.0.1:${port}${callbackPath(secrets, 'sandbox', `pay_bench${index}`, Date.now())}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await request(url, { method: 'POST', headers, body, dispatcher });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`a callback was answered ${answer.statusCode}`);
  });
  say('callbacks taken (64 connections, durable)', perSecond(count, since));
  await dispatcher.close();
  await app.close();
}

async function benchPublishing(store: EventStore, bus: KafkaMessageBus, count: number): Promise<void> {
  let since = performance.now();
  await inParallel(count, (index) => append(store, `pay_publish${index}`));
  say('the bare store: events appended (64 writers)', perSecond(count, since));
  const publisher = createEventPublisher({ store, bus, clock: systemClock, ids: systemIds, log: silentLog });
  const stopping = new AbortController();
  const [last] = await lastPosition(store, `pay_publish${count - 1}`);
  since = performance.now();
  const running = publisher.run(stopping.signal);
  while (publisher.health().position < (last ?? '')) await systemClock.sleep(5);
  say('events published', perSecond(count, since));
  await benchDelay(store, bus);
  stopping.abort();
  await running;
}

async function lastPosition(store: EventStore, token: string): Promise<string[]> {
  const positions: string[] = [];
  for await (const { position } of store.read(paymentStream(token))) positions.push(position);
  return positions;
}

async function benchDelay(store: EventStore, bus: MessageBus): Promise<void> {
  const appendedAt = new Map<string, number>();
  const delays: number[] = [];
  const stopping = new AbortController();
  const subscription = {
    group: `bench-${systemIds.hex(4)}`,
    topics: [gatewayPaymentsTopic],
    signal: stopping.signal,
  };
  const consuming = bus.subscribe(subscription, async (batch) => {
    for (const { key } of batch) {
      const at = appendedAt.get(key);
      if (at !== undefined) delays.push(performance.now() - at);
    }
  });
  // The group reads what was there before; then the samples are taken.
  await append(store, 'pay_first');
  appendedAt.set('pay_first', performance.now());
  while (delays.length === 0) await systemClock.sleep(5);
  delays.length = 0;
  for (let index = 0; index < delaySamples; index += 1) {
    const token = `pay_delay${index}`;
    await append(store, token);
    appendedAt.set(token, performance.now());
    await systemClock.sleep(delayEveryMs);
  }
  while (delays.length < delaySamples) await systemClock.sleep(5);
  stopping.abort();
  await consuming;
  delays.sort((a, b) => a - b);
  const at = (share: number) => `${(delays[Math.floor(delays.length * share)] ?? 0).toFixed(1)} ms`;
  say('from append to consumer, p50 / p99', `${at(0.5)} / ${at(0.99)}`);
}

const count = readCount({ usual: 10_000, least: 100 });
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const kafka = toKafkaConfig(readConfig(kafkaEnvironmentSchema, process.env));
const store = await createEmbeddedEventStore({ file: join(folder, 'events.db') });
const own = { store: async () => store, clock: systemClock, ids: systemIds, log: silentLog };
if (kafka !== undefined)
  await ensureTopics(
    { ...kafka.connection, clock: systemClock, log: silentLog },
    gatewayTopics.map((topic) => toTopicSpec(topic, kafka)),
  );
const stops = new AsyncDisposableStack();
const bus = await openBus({ ...own, kafka, holder: 'bench', isGone: () => false }, stops);
say('bus', kafka === undefined ? 'embedded' : `Kafka at ${kafka.connection.brokers.join(', ')}`);
await benchCallbacks(bus, count);
if ('lastPerPartition' in bus) await benchPublishing(store, bus, count);
await stops.disposeAsync();
await store.close();
rmSync(folder, { recursive: true });
