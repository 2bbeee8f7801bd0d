import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshGroup } from '../testing/message-bus.contract.ts';
import { memberProbe, message, textOf, waiting } from '../testing/member-probe.ts';
import { givenRelayedBus, givenTopic, kafkaBrokers, openKafkaBus } from '../testing/kafka.ts';

function givenBus(options: Parameters<typeof openKafkaBus>[0] = {}) {
  const bus = openKafkaBus(options);
  onTestFinished(() => bus.close());
  return bus;
}

async function everythingOf(topic: string, count: number): Promise<string[]> {
  const member = memberProbe(givenBus(), { group: freshGroup(), topics: [topic] });
  await member.received(count);
  await member.stop();
  return member.values();
}

const foreignClient = () =>
  new Kafka({ brokers: [...kafkaBrokers()], clientId: 'spec', logLevel: logLevel.NOTHING });

describe('after a send whose answer was lost', () => {
  // kafkajs gave up on a send that Kafka had written, and took the same sequence number for the next message. Kafka saw
  // a repeat, confirmed it, and wrote nothing: the bus had confirmed a message that did not exist.
  it('the next message that is confirmed is there, once', async () => {
    const topic = await givenTopic();
    const { bus, relay } = await givenRelayedBus({ deadlineMs: 1_500 });
    await bus.publish(topic, [message('k', 'before')]);
    relay.loseAnswers();
    await expect(bus.publish(topic, [message('k', 'unconfirmed')])).rejects.toMatchObject({
      code: 'bus_unavailable',
      retryable: true,
    });
    await relay.heal();
    await bus.publish(topic, [message('k', 'after')]);
    expect(await everythingOf(topic, 3)).toEqual(['before', 'unconfirmed', 'after']);
  });

  // An abandoned send was still under way: kafkajs repeated it on a new connection, after later ones.
  it('nothing of it is sent afterwards', async () => {
    const topic = await givenTopic();
    const { bus, relay } = await givenRelayedBus({ deadlineMs: 1_500 });
    await bus.publish(topic, [message('k', 'before')]);
    await relay.goDown();
    await expect(bus.publish(topic, [message('k', 'unsent')])).rejects.toMatchObject({
      code: 'bus_unavailable',
    });
    await relay.heal();
    await bus.publish(topic, [message('k', 'after')]);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    await bus.publish(topic, [message('k', 'last')]);
    expect(await everythingOf(topic, 3)).toEqual(['before', 'after', 'last']);
  });

  it('the messages that waited for it are rejected with it', async () => {
    const topic = await givenTopic();
    const { bus, relay } = await givenRelayedBus({ deadlineMs: 1_500 });
    await bus.publish(topic, [message('k', 'before')]);
    await relay.goDown();
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c'].map((text) => bus.publish(topic, [message('k', text)])),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await relay.heal();
    await bus.publish(topic, [message('k', 'after')]);
    expect(await everythingOf(topic, 2)).toEqual(['before', 'after']);
  });
});

describe('publish', () => {
  it('sends messages together that were published while it waited, in order', async () => {
    const topic = await givenTopic();
    const bus = givenBus();
    const texts = Array.from({ length: 300 }, (_, index) => String(index));
    await Promise.all(texts.map((text) => bus.publish(topic, [message('k', text)])));
    expect(await everythingOf(topic, 300)).toEqual(texts);
  });

  // A misspelled name created topics with one partition and a retention of a week.
  it('to a topic that does not exist fails and creates none', async () => {
    const [bus, topic] = [givenBus(), `never-created-${freshGroup()}`];
    await expect(bus.publish(topic, [message('k', 'v')])).rejects.toMatchObject({
      code: 'topic_missing',
      retryable: false,
    });
    const admin = foreignClient().admin();
    await admin.connect();
    // Kafka would answer first and create afterwards.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await admin.listTopics()).not.toContain(topic);
    await admin.disconnect();
  });

  it('finds a topic that was created after it had been missing', async () => {
    const topic = `late-${freshGroup()}`;
    const bus = givenBus();
    await expect(bus.publish(topic, [message('k', 'v')])).rejects.toMatchObject({ code: 'topic_missing' });
    await givenTopic({ topic });
    await bus.publish(topic, [message('k', 'v')]);
  });

  it('accepts the largest record with the most headers', async () => {
    const topic = await givenTopic();
    const largest = message('k', 'x'.repeat(999_999), { reason: 'x'.repeat(32_000) });
    await givenBus().publish(topic, [largest, largest, message('k', 'small')]);
    expect((await everythingOf(topic, 3)).map(({ length }) => length)).toEqual([999_999, 999_999, 5]);
  });

  it('refuses a larger one by its key, before anything is written, and accepts the next', async () => {
    const topic = await givenTopic();
    const bus = givenBus();
    const large = message('pay_large', 'x'.repeat(1_000_001));
    await expect(bus.publish(topic, [message('k', 'with it'), large])).rejects.toMatchObject({
      code: 'record_too_large',
      retryable: false,
      message: expect.stringContaining('"pay_large"'),
    });
    await bus.publish(topic, [message('k', 'next')]);
    expect((await bus.lastPerPartition(topic)).map(({ offset }) => offset)).toEqual(['0']);
  });

  it('uses the partition that Kafka’s own clients choose', async () => {
    const topic = await givenTopic({ partitions: 7 });
    const bus = givenBus();
    const keys = ['pay_1', 'pay_2', '', 'é', 'a longer key that has more than a few bytes'];
    // The choice of org.apache.kafka.clients.producer: murmur2 of the key's bytes.
    const chosen = await Promise.all(keys.map((key) => bus.partitionOf(topic, key)));
    await bus.publish(
      topic,
      keys.map((key) => message(key, key)),
    );
    const member = memberProbe(bus, { group: freshGroup(), topics: [topic] });
    await member.received(keys.length);
    await member.stop();
    const landed = keys.map((key) => member.records.find((record) => record.key === key)?.partition);
    expect(landed).toEqual(chosen);
  });
});

it('every bus identifies its topics by the same address', async () => {
  expect(await givenBus().address()).toBe(await givenBus().address());
});

describe('the last record of a partition', () => {
  it('is returned for each partition that has one, as soon as publish has resolved', async () => {
    const topic = await givenTopic({ partitions: 4 });
    const [bus, another] = [givenBus(), givenBus()];
    expect(await bus.lastPerPartition(topic)).toEqual([]);
    const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
    for (const key of keys) await bus.publish(topic, [message(key, key, { ce_id: key })]);
    const partitions = await Promise.all(keys.map((key) => another.partitionOf(topic, key)));
    const lasts = await another.lastPerPartition(topic);
    expect(lasts.map(({ partition }) => partition).toSorted()).toEqual([...new Set(partitions)].toSorted());
    for (const { partition, key, headers } of lasts)
      expect([key, headers['ce_id']]).toEqual(Array(2).fill(keys[partitions.lastIndexOf(partition)]));
  });

  // The newest offset was a control record, the publisher considered the partition empty, and published everything again.
  it('is found before control records', async () => {
    const topic = await givenTopic();
    const bus = givenBus();
    await bus.publish(topic, [message('k', 'last')]);
    const producer = foreignClient().producer({
      transactionalId: topic,
      maxInFlightRequests: 1,
      idempotent: true,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ key: 'k', value: 'of a transaction' }] });
    await transaction.commit();
    await producer.disconnect();
    // Kafka writes the control record, which ends the transaction, in its own time.
    const last = async () =>
      (await bus.lastPerPartition(topic)).map((record) => [record.offset, textOf(record)]);
    await expect.poll(last, waiting).toEqual([['1', 'of a transaction']]);
  });

  it('is none if all were removed, and the first one after that', async () => {
    const topic = await givenTopic();
    const bus = givenBus();
    await bus.publish(topic, [message('k', '0'), message('k', '1')]);
    const admin = foreignClient().admin();
    await admin.connect();
    // kafkajs deletes records of a topic only after a query about it.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] });
    await admin.disconnect();
    await expect.poll(() => bus.lastPerPartition(topic), waiting).toEqual([]);
    await bus.publish(topic, [message('k', '2')]);
    expect((await bus.lastPerPartition(topic)).map(textOf)).toEqual(['2']);
  });
});
