import { expect, it, onTestFinished } from 'vitest';
import type { KafkaMessageBus, Message } from '../message-bus.ts';
import { freshGroup } from '../testing/message-bus.contract.ts';
import { memberProbe, message, waiting } from '../testing/member-probe.ts';
import { givenRelayedBus, givenTopic, openKafkaBus } from '../testing/kafka.ts';

const delay = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

const chunkLength = 20;

/** The event publisher in small: in order of position, and after a failure from the last records on. */
function startPublishing(bus: KafkaMessageBus, topic: string) {
  const progress = { failures: 0, confirmed: 0, isEnding: false };
  const messages: Message[] = [];

  async function publishNew(): Promise<void> {
    while (!progress.isEnding) {
      const chunk = Array.from({ length: chunkLength }, (_, index) => {
        const position = String(messages.length + index);
        return message(`k${Number(position) % 17}`, position, { position });
      });
      messages.push(...chunk);
      await bus.publish(topic, chunk);
      progress.confirmed = messages.length;
    }
  }

  async function publishMissing(): Promise<void> {
    const lasts = new Map(
      (await bus.lastPerPartition(topic)).map((last) => [last.partition, Number(last.headers['position'])]),
    );
    const isThere = await Promise.all(
      messages.map(
        async ({ key, headers }) =>
          Number(headers['position']) <= (lasts.get(await bus.partitionOf(topic, key)) ?? -1),
      ),
    );
    await bus.publish(
      topic,
      messages.filter((_, index) => isThere[index] !== true),
    );
  }

  async function run(): Promise<void> {
    for (;;) {
      try {
        await publishMissing();
        await publishNew();
        return;
      } catch (error) {
        expect(error).toMatchObject({ name: 'BusUnavailable', retryable: true });
        progress.failures += 1;
        await delay(200);
      }
    }
  }

  const running = run();
  // The promise of the end reports it.
  running.catch(() => undefined);
  const end = async () => {
    progress.isEnding = true;
    await running;
    return messages.length;
  };
  onTestFinished(() => void (progress.isEnding = true));
  return { progress, end };
}

it("for any failure during a publisher's writes, each record exists once and in order", async () => {
  const topic = await givenTopic({ partitions: 3 });
  const { bus, relay } = await givenRelayedBus({ deadlineMs: 2_000 });
  const reader = openKafkaBus();
  onTestFinished(() => reader.close());
  const member = memberProbe(reader, { group: freshGroup(), topics: [topic] });
  const { progress, end } = startPublishing(bus, topic);
  const grown = (what: 'failures' | 'confirmed', by: number) => {
    const enough = progress[what] + by;
    return expect.poll(() => progress[what], waiting).toBeGreaterThanOrEqual(enough);
  };
  // An outage lasts until this many tries have failed; without a failing try it ends at once.
  for (const [failures, breakIt] of [
    [1, relay.loseAnswers],
    [0, relay.goDown],
    [3, relay.goDown],
    [1, relay.loseAnswers],
  ] as const) {
    await grown('confirmed', 10 * chunkLength);
    await breakIt();
    if (failures === 0) await delay(100);
    else await grown('failures', failures);
    await relay.heal();
  }
  const count = await end();
  await member.received(count);
  await delay(500);
  await member.stop();
  expect(member.records).toHaveLength(count);
  for (const ofPartition of Map.groupBy(member.records, ({ partition }) => partition).values()) {
    const positions = ofPartition.map(({ headers }) => Number(headers['position']));
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  }
});
