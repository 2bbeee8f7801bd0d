import { expect, it, onTestFinished } from 'vitest';
import { freshGroup } from '../testing/message-bus.contract.ts';
import { memberProbe, message, textOf, waiting } from '../testing/member-probe.ts';
import { givenRelayedBus, givenTopic } from '../testing/kafka.ts';

const keys = Array.from({ length: 24 }, (_, index) => `k${index}`);
const sessionTimeoutMs = 6_000;

it('members join, leave and die under load: each record is handled, and none before an earlier one of its key', async () => {
  const [topic, group] = [await givenTopic({ partitions: 6 }), freshGroup()];
  const { bus: publishing } = await givenRelayedBus();
  let isEnding = false;
  let rounds = 0;
  const publishAll = async () => {
    for (; !isEnding; rounds += 1) {
      await publishing.publish(
        topic,
        keys.map((key) => message(key, String(rounds))),
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const published = publishAll();
  published.catch(() => undefined);
  onTestFinished(() => void (isEnding = true));

  /** Handled records of all members, in order of time. */
  const handled = new Map<string, number[]>();
  const handle = async (batch: Parameters<Parameters<typeof publishing.subscribe>[1]>[0]) => {
    for (const record of batch)
      handled.set(record.key, [...(handled.get(record.key) ?? []), Number(textOf(record))]);
  };
  const join = async () => {
    const { bus, relay } = await givenRelayedBus({ sessionTimeoutMs, deadlineMs: 1_000 });
    const member = memberProbe(bus, { group, topics: [topic], handle });
    await member.received(1);
    return { member, relay };
  };
  /** Every key has advanced by some rounds. */
  const goOn = async () => {
    const enough = rounds + 5;
    const behind = () => keys.filter((key) => Math.max(-1, ...(handled.get(key) ?? [])) < enough);
    await expect.poll(behind, waiting).toEqual([]);
  };

  const staying = await join();
  const leaving = await join();
  const dying = await join();
  await goOn();
  await leaving.member.stop();
  await goOn();
  // Nothing from it arrives, as if its machine had been switched off.
  await dying.relay.goDown();
  await goOn();
  const another = await join();
  await goOn();
  isEnding = true;
  await published;
  await goOnTo(rounds - 1);
  await Promise.all([staying, another, dying].map(({ member }) => member.stop()));

  for (const [key, values] of handled) {
    expect(new Set(values), key).toEqual(new Set(Array.from({ length: rounds }, (_, round) => round)));
    let furthest = -1;
    for (const value of values) {
      expect(value, `${key} after ${furthest}`).toBeLessThanOrEqual(furthest + 1);
      furthest = Math.max(furthest, value);
    }
  }
  expect(handled.size).toBe(keys.length);

  async function goOnTo(last: number): Promise<void> {
    const missing = () => keys.filter((key) => !(handled.get(key) ?? []).includes(last));
    await expect.poll(missing, waiting).toEqual([]);
  }
}, 120_000);
