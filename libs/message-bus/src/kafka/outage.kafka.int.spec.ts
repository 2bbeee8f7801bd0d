import { expect, it, onTestFinished } from 'vitest';
import type { Message, MessageBus } from '../message-bus.ts';
import { freshGroup } from '../testing/message-bus.contract.ts';
import { memberProbe, message } from '../testing/member-probe.ts';
import { givenRelayedBus, givenTopic, openKafkaBus } from '../testing/kafka.ts';

const delay = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

/** The event publisher in small: in order of position, and after a failure from the last records on. */
async function publishAll(bus: MessageBus, topic: string, messages: readonly Message[]): Promise<number> {
  let failures = 0;
  for (;;) {
    try {
      const lasts = new Map(
        (await bus.lastPerPartition(topic)).map((last) => [last.partition, Number(last.headers['position'])]),
      );
      const isThere = await Promise.all(
        messages.map(
          async ({ key, headers }) =>
            Number(headers['position']) <= (lasts.get(await bus.partitionOf(topic, key)) ?? -1),
        ),
      );
      const missing = messages.filter((_, index) => isThere[index] !== true);
      for (let at = 0; at < missing.length; at += 20) await bus.publish(topic, missing.slice(at, at + 20));
      return failures;
    } catch (error) {
      expect(error).toMatchObject({ name: 'BusUnavailable', retryable: true });
      failures += 1;
      await delay(200);
    }
  }
}

it('whatever breaks while a publisher writes, each record is there once and in order', async () => {
  const topic = await givenTopic({ partitions: 3 });
  const { bus, relay } = await givenRelayedBus({ deadlineMs: 2_000 });
  const count = 6_000;
  const messages = Array.from({ length: count }, (_, position) =>
    message(`k${position % 17}`, String(position), { position: String(position) }),
  );
  const reader = openKafkaBus();
  onTestFinished(() => reader.close());
  const member = memberProbe(reader, { group: freshGroup(), topics: [topic] });
  let isDone = false;
  const publishing = publishAll(bus, topic, messages).finally(() => (isDone = true));
  let breaks = 0;
  const breaking = async () => {
    for (const [durationMs, breakIt] of [
      [3_000, relay.loseAnswers],
      [100, relay.goDown],
      [10_000, relay.goDown],
      [3_000, relay.loseAnswers],
    ] as const) {
      await delay(150);
      if (isDone) return;
      breaks += 1;
      await breakIt();
      await delay(durationMs);
      await relay.heal();
    }
  };
  await breaking();
  const failures = await publishing;
  expect(breaks).toBeGreaterThan(0);
  expect(failures).toBeGreaterThan(0);
  await member.received(count);
  await delay(500);
  await member.stop();
  expect(member.records).toHaveLength(count);
  for (const ofPartition of Map.groupBy(member.records, ({ partition }) => partition).values()) {
    const positions = ofPartition.map(({ headers }) => Number(headers['position']));
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  }
});
