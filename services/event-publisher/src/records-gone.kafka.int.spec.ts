/** Topics of a real broker that lose what they had confirmed. */
import { randomUUID } from 'node:crypto';
import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { eventIdHeader, gatewayPaymentsTopic, gatewayTopics } from '@tollgate/gateway-api';
import { prefixTopicReader, prefixTopics } from '@tollgate/message-bus';
import { createKafkaMessageBus, createKafkaTopicReader, ensureTopics } from '@tollgate/message-bus/kafka';
import { removeTopics } from '@tollgate/message-bus/testing';
import { silentLog, systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { appendPayment } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { checkpointStream } from './checkpoint.ts';
import { hastyClock, startPublisher } from './testing/holder.ts';
import { storedEvents } from './testing/expect-published.ts';

const patience = { timeoutMs: 60_000, intervalMs: 200 };
const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
const connection = { brokers, clientId: 'tollgate-spec', log: silentLog, clock: systemClock };

let prefix: string;
let store: EventStore;
beforeEach(async () => {
  prefix = `gone-${randomUUID()}.`;
  store = await temporaryStore();
  await makeTopics();
});

const topics = gatewayTopics
  .filter(({ topic }) => topic.startsWith('gateway.'))
  .map((topic) => ({ ...topic, partitions: 3, replication: 1, minInsyncReplicas: 1 }));

const makeTopics = () =>
  eventually(
    async () =>
      expect(
        await ensureTopics(
          connection,
          topics.map((each) => ({ ...each, topic: `${prefix}${each.topic}` })),
        ),
      ).toEqual([]),
    patience,
  );

function givenBus() {
  const cluster = createKafkaMessageBus(connection);
  onTestFinished(() => cluster.close());
  return prefixTopics(cluster, prefix);
}

async function eventIdsOnTopic(): Promise<string[]> {
  const reader = prefixTopicReader(createKafkaTopicReader(connection), prefix);
  const { signal } = new AbortController();
  const ids: string[] = [];
  for await (const { headers } of reader.readTopic(gatewayPaymentsTopic, { from: 'beginning', signal }))
    ids.push(headers[eventIdHeader] ?? '');
  return ids;
}

/** The first copy of each event stands in the order of its stream. */
async function expectAllThere(): Promise<void> {
  const ids = await eventIdsOnTopic();
  const events = await storedEvents(store);
  const byStream = Map.groupBy(events, ({ stream }) => stream);
  for (const [stream, ofStream] of byStream) {
    const places = ofStream.map(({ id }) => ids.indexOf(id));
    expect(places, stream).not.toContain(-1);
  }
  expect(new Set(ids).size).toBe(events.length);
}

const history = [requested(), happening.accepted, happening.pending, happening.approved];
const record = (token: string) => appendPayment(store, token, history);
let now = 0;
const clock = { ...hastyClock, monotonic: () => now };
const start = () => startPublisher({ store, bus: givenBus(), clock });

async function publishAndRemember(): Promise<void> {
  for (let number = 0; number < 8; number += 1) await record(`pay_${number}`);
  await eventually(expectAllThere, patience);
  now += 2_000;
  await record('pay_last');
  await eventually(expectAllThere, patience);
  const lastOne = { direction: 'backwards', limit: 1 } as const;
  await eventually(async () => {
    const [checkpoint] = await Array.fromAsync(store.read(checkpointStream, lastOne));
    expect(JSON.stringify(checkpoint?.data)).toMatch(/"end":"[1-9]/);
  }, patience);
}

async function loseEverything(): Promise<void> {
  await removeTopics(
    brokers,
    topics.map(({ topic }) => `${prefix}${topic}`),
  );
  await makeTopics();
}

it(
  'a topic that was made again has everything again after the next start',
  { timeout: 180_000 },
  async () => {
    const first = start();
    await publishAndRemember();
    await first.stop();
    await loseEverything();
    start();
    await eventually(expectAllThere, patience);
  },
);

it('and while the publisher runs, with what it publishes next', { timeout: 180_000 }, async () => {
  start();
  await publishAndRemember();
  await loseEverything();
  now += 2_000;
  await record('pay_next');
  await eventually(expectAllThere, patience);
});
