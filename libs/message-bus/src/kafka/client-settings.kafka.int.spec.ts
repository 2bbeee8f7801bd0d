/** The settings of kafkajs as a broker sees them: its defaults differ, and some of them lose records. */
import { createLog, silentLog, systemClock } from '@tollgate/service-kit';
import { expect, it, onTestFinished } from 'vitest';
import { acksOf, apiKeys } from '../testing/client-requests.ts';
import { freshGroup } from '../testing/message-bus.contract.ts';
import { memberProbe, message, waiting } from '../testing/member-probe.ts';
import { givenConnection, givenRelayedBus, givenTopic } from '../testing/kafka.ts';
import { clientRetry, createKafkaClient } from './connection.ts';
import { createTopicWriter, producerConfig } from './topic-writer.ts';

it('a record is confirmed by all required copies, and written by an idempotent producer', async () => {
  const topic = await givenTopic();
  const { bus, relay } = await givenRelayedBus();
  await bus.publish(topic, [message('k', '0')]);
  expect(relay.requests(apiKeys.produce).map(acksOf)).toEqual([-1]);
  expect(relay.requests(apiKeys.initProducerId)).toHaveLength(1);
});

it('a producer has one request on its way, however many sends wait', async () => {
  const topic = await givenTopic();
  const { relay } = await givenRelayedBus();
  const { kafka, sever } = createKafkaClient({ ...givenConnection(), route: () => relay.address });
  onTestFinished(sever);
  const producer = kafka.producer(producerConfig);
  await producer.connect();
  const send = (value: string) => producer.send({ topic, messages: [{ key: 'k', value, partition: 0 }] });
  await send('before');
  relay.loseAnswers();
  for (const value of ['first', 'second', 'third']) send(value).catch(() => undefined);
  await expect.poll(() => relay.requests(apiKeys.produce).length, waiting).toBe(2);
  // The others would follow at once.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(relay.requests(apiKeys.produce)).toHaveLength(2);
});

it('a producer gives up after the configured number of tries', async () => {
  let tries = 0;
  const route = () => {
    tries += 1;
    // No process listens there.
    return { host: '127.0.0.1', port: 1 };
  };
  const writer = createTopicWriter({
    connection: { ...givenConnection(), log: silentLog, route },
    topic: 'any',
    partitionOf: async () => 0,
    clock: systemClock,
    deadlineMs: 60_000,
  });
  await expect(writer.write([message('k', '0')])).rejects.toMatchObject({ code: 'bus_unavailable' });
  expect(tries).toBe(1 + (clientRetry.retries ?? 0));
});

it('a consumer gives up after as many, and another one replaces it', async () => {
  const topic = await givenTopic();
  const lines: string[] = [];
  const log = createLog('spec', 'debug', { write: (line) => void lines.push(line) });
  const { bus, relay } = await givenRelayedBus({ log, sessionTimeoutMs: 6_000 });
  const member = memberProbe(bus, { group: freshGroup(), topics: [topic] });
  await bus.publish(topic, [message('k', '0')]);
  await member.received(1);
  await relay.goDown();
  const ended = () => lines.filter((line) => line.includes('a consumer ended'));
  await expect.poll(() => ended().length, waiting).toBeGreaterThan(0);
  // It would restart itself, with connections that are not ours to cut.
  expect(lines.filter((line) => line.includes('kafkajs Consumer') && line.includes('waitMs'))).toEqual([]);
  await relay.heal();
  await bus.publish(topic, [message('k', '1')]);
  await member.received(2);
  await member.stop();
});
