import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BusRecord } from '../message-bus.ts';
import { freshGroup } from '../testing/message-bus.contract.ts';
import { memberProbe, message, textOf, waiting } from '../testing/member-probe.ts';
import { givenRelayedBus, givenTopic, openKafkaBus } from '../testing/kafka.ts';

function givenBus(options: Parameters<typeof openKafkaBus>[0] = {}) {
  const bus = openKafkaBus(options);
  onTestFinished(() => bus.close());
  return bus;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const delay = (durationMs: number) => new Promise<void>((resolve) => setTimeout(resolve, durationMs));

describe('a handler that throws', () => {
  // kafkajs considers errors of these classes permanent: after one bad JSON.parse in a handler, the consumer was dead until the
  // process ended,
  // while the process seemed healthy.
  it.each([SyntaxError, TypeError, RangeError, ReferenceError])(
    'a %s gets the records again, on the same connection',
    async (Mistake) => {
      const topic = await givenTopic();
      const { bus, relay } = await givenRelayedBus();
      let tries = 0;
      let connectionsBefore = 0;
      const handle = async () => {
        tries += 1;
        // Not at the first one: the client may still be opening those that it has anyway.
        if (tries === 3) connectionsBefore = relay.connectionCount();
        if (tries <= 3) throw new Mistake('thrown in this spec');
      };
      const member = memberProbe(bus, { group: freshGroup(), topics: [topic], handle });
      await bus.publish(topic, [message('k', '0')]);
      await member.received(1);
      expect([tries, relay.connectionCount()]).toEqual([4, connectionsBefore]);
      await member.stop();
    },
  );

  it('gets them after growing pauses', async () => {
    const topic = await givenTopic();
    const bus = givenBus();
    const triedAt: number[] = [];
    const handle = async () => {
      triedAt.push(performance.now());
      if (triedAt.length <= 4) throw new Error('thrown in this spec');
    };
    const member = memberProbe(bus, { group: freshGroup(), topics: [topic], handle });
    await bus.publish(topic, [message('k', '0')]);
    await member.received(1);
    await member.stop();
    const pauses = triedAt.slice(1).map((at, index) => at - triedAt[index]!);
    // Timers may be a little early by the finer clock.
    for (const [index, atLeastMs] of [95, 195, 395, 795].entries())
      expect(pauses[index]).toBeGreaterThan(atLeastMs);
  });

  it('does not keep other partitions waiting', async () => {
    const topic = await givenTopic({ partitions: 2 });
    const bus = givenBus();
    const keys = await Promise.all(
      numbers(20).map(async (key) => ({ key, partition: await bus.partitionOf(topic, key) })),
    );
    const [bad, good] = [0, 1].map((wanted) => keys.find(({ partition }) => partition === wanted)!.key);
    const handle = async (batch: readonly BusRecord[]) => {
      if (batch[0]!.partition === 0) throw new Error('thrown in this spec');
    };
    const member = memberProbe(bus, { group: freshGroup(), topics: [topic], handle });
    await bus.publish(topic, [message(bad!, 'bad'), ...numbers(5).map((text) => message(good!, text))]);
    await member.received(5);
    expect(member.values()).toEqual(numbers(5));
    await member.stop();
  });
});

describe('the end of a subscription in the middle of a batch', () => {
  // By default kafkajs commits the whole batch if the handler returns early: the rest was lost.
  it('leaves the rest of the batch to the next member', async () => {
    const [topic, group] = [await givenTopic(), freshGroup()];
    const bus = givenBus();
    await bus.publish(
      topic,
      numbers(500).map((text) => message('k', text)),
    );
    const [called, finish] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const handle = async () => {
      called.resolve(undefined);
      await finish.promise;
    };
    const first = memberProbe(bus, { group, topics: [topic], handle });
    await called.promise;
    const stopped = first.stop();
    finish.resolve(undefined);
    await stopped;
    expect(first.records.length).toBeLessThan(500);
    const second = memberProbe(bus, { group, topics: [topic] });
    await second.received(500 - first.records.length);
    expect([...first.values(), ...second.values()]).toEqual(numbers(500));
    await second.stop();
  });
});

describe('a handler that takes longer than a session', () => {
  it('keeps its partition: no other member gets the records', async () => {
    const [topic, group] = [await givenTopic(), freshGroup()];
    const bus = givenBus({ sessionTimeoutMs: 6_000 });
    const handle = () => delay(14_000);
    const slow = memberProbe(bus, { group, topics: [topic], handle });
    await bus.publish(topic, [message('k', '0')]);
    await delay(3_000);
    const other = memberProbe(givenBus({ sessionTimeoutMs: 6_000 }), { group, topics: [topic] });
    await slow.received(1);
    await delay(2_000);
    expect([slow.values(), other.values()]).toEqual([['0'], []]);
    await Promise.all([slow.stop(), other.stop()]);
  });
});

describe('an unavailable broker', () => {
  // The first connect of kafkajs gave up after nine seconds and was not repeated: a service that was started before its broker
  // consumed nothing.
  it('at the start is waited for, and meanwhile the bus reports that it is not connected', async () => {
    const topic = await givenTopic();
    const { bus, relay } = await givenRelayedBus({ deadlineMs: 1_000 }, { isDown: true });
    const member = memberProbe(bus, { group: freshGroup(), topics: [topic] });
    const startedAt = performance.now();
    await expect(bus.publish(topic, [message('k', '0')])).rejects.toMatchObject({
      name: 'BusUnavailable',
      retryable: true,
    });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(bus.isConnected()).toBe(false);
    await delay(10_000);
    await relay.heal();
    await expect.poll(() => bus.isConnected(), waiting).toBe(true);
    await bus.publish(topic, [message('k', '1')]);
    await member.received(1);
    expect(member.values()).toEqual(['1']);
    await member.stop();
  });

  it('for a while is noticed, and the members continue', async () => {
    const topic = await givenTopic();
    const { bus, relay } = await givenRelayedBus({ deadlineMs: 1_000 });
    const member = memberProbe(bus, { group: freshGroup(), topics: [topic] });
    await bus.publish(topic, [message('k', '0')]);
    await member.received(1);
    await expect.poll(() => bus.isConnected(), waiting).toBe(true);
    await relay.goDown();
    await expect.poll(() => bus.isConnected(), waiting).toBe(false);
    await delay(8_000);
    await relay.heal();
    await givenBus().publish(topic, [message('k', '1')]);
    await member.received(2);
    expect(new Set(member.values())).toEqual(new Set(['0', '1']));
    await member.stop();
  });

  it('does not keep a subscription from ending, nor a bus from closing', async () => {
    const { bus } = await givenRelayedBus({}, { isDown: true });
    const member = memberProbe(bus, { group: freshGroup(), topics: [`topic-${randomUUID()}`] });
    await member.stop();
    await bus.close();
  });
});

it('a topic that is created after its subscription is read from its first record', async () => {
  const topic = `late-${randomUUID()}`;
  const bus = givenBus();
  const member = memberProbe(bus, { group: freshGroup(), topics: [topic] });
  await delay(1_000);
  await givenTopic({ topic });
  await bus.publish(topic, [message('k', '0')]);
  await member.received(1);
  expect(member.records.map(textOf)).toEqual(['0']);
  await member.stop();
});
