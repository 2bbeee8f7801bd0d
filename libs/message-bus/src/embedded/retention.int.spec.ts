import { StoreUnavailable, createEmbeddedEventStore, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds, dayMs } from '@tollgate/service-kit';
import { createFakeClock, type FakeClock } from '@tollgate/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { memberProbe, message, textOf } from '../testing/member-probe.ts';
import { createEmbeddedMessageBus } from './embedded-message-bus.ts';
import { createEmbeddedTopicReader } from './embedded-topic-reader.ts';
import { retainTopics, trimTopic } from './retention.ts';

const topic = 'gateway.payments.v1';
const group = 'command-service';
const keep = { topic, retentionMs: 30 * dayMs };
const { signal } = new AbortController();

/** A store whose events are stamped by the clock. */
async function start() {
  const clock = createFakeClock({ now: Date.UTC(2026, 0, 1) });
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-retention-'));
  const store = await createEmbeddedEventStore({ file: join(folder, 'events.db'), clock });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const bus = createEmbeddedMessageBus({ store, clock, ids: systemIds, holder: 'one', partitions: 2 });
  onTestFinished(() => bus.close());
  const publish = (day: number, keys = ['a', 'b', 'c', 'd']) =>
    bus.publish(
      topic,
      keys.map((key) => message(key, `day ${day}`)),
    );
  return { clock, store, bus, publish, deps: { store, clock, log: silentLog } };
}

async function eachDay(
  clock: FakeClock,
  days: number,
  publish: (day: number) => Promise<void>,
): Promise<void> {
  for (let day = 1; day <= days; day += 1) {
    await publish(day);
    await clock.advance(dayMs);
  }
}

async function textsIn(store: EventStore): Promise<string[]> {
  const texts: string[] = [];
  for await (const record of createEmbeddedTopicReader({ store }).readTopic(topic, {
    from: 'beginning',
    signal,
  }))
    texts.push(textOf(record));
  return texts;
}

const daysIn = async (store: EventStore) => [...new Set(await textsIn(store))].sort();

it('lets go of what is older, of every partition, and of nothing else', async () => {
  const { clock, store, publish, deps } = await start();
  await eachDay(clock, 40, publish);
  await trimTopic(deps, keep, signal);
  const days = await daysIn(store);
  expect(days).toHaveLength(30);
  expect(days).not.toContain('day 10');
  expect(days).toContain('day 11');
  expect(await textsIn(store)).toHaveLength(30 * 4);
});

it('keeps the last record of a partition, and offsets go on', async () => {
  const { clock, bus, store, publish, deps } = await start();
  await publish(1, ['a', 'a', 'a']);
  await clock.advance(400 * dayMs);
  await trimTopic(deps, keep, signal);
  expect(await textsIn(store)).toHaveLength(1);
  await publish(2, ['a']);
  const lasts = await bus.lastPerPartition(topic);
  expect(lasts.map(({ offset }) => offset)).toEqual(['3']);
});

it('a consumer that is behind goes on with what is left', async () => {
  const { clock, bus, publish, deps } = await start();
  await publish(1, ['a', 'a']);
  await clock.advance(31 * dayMs);
  await publish(2, ['a']);
  await trimTopic(deps, keep, signal);
  const member = memberProbe(bus, { group: 'bookkeeping', topics: [topic] });
  await member.received(1);
  await member.stop();
  expect(member.values()).toEqual(['day 2']);
});

it('lets nothing go that the group has not handled which it is kept for', async () => {
  const { clock, bus, store, publish, deps } = await start();
  await publish(1, ['a', 'a']);
  await clock.advance(100 * dayMs);
  await publish(2, ['a']);
  const held = { ...keep, heldBy: group };
  await trimTopic(deps, held, signal);
  expect(await textsIn(store)).toEqual(['day 1', 'day 1', 'day 2']);
  const member = memberProbe(bus, { group, topics: [topic] });
  await member.received(3);
  await member.stop();
  await trimTopic(deps, held, signal);
  expect(await textsIn(store)).toEqual(['day 2']);
});

it('a topic that is not there is nothing to trim', async () => {
  const { deps } = await start();
  await trimTopic(deps, { ...keep, topic: 'none' }, signal);
});

it('goes on every hour, also after a failure of the store', async () => {
  const { clock, store, publish } = await start();
  await publish(1, ['a', 'a']);
  await clock.advance(31 * dayMs);
  let isDown = true;
  const failing: EventStore = {
    ...store,
    truncate: (...given) =>
      isDown ? Promise.reject(new StoreUnavailable('down', 'down')) : store.truncate(...given),
  };
  const stopping = new AbortController();
  const running = retainTopics({ store: failing, clock, log: silentLog }, [keep], stopping.signal);
  await expect.poll(() => clock.sleeperCount()).toBe(1);
  expect(await textsIn(store)).toHaveLength(2);
  isDown = false;
  await clock.advance(3_600_000);
  await expect.poll(() => textsIn(store)).toHaveLength(1);
  stopping.abort();
  await running;
});

it('of a shared store, two that trim at once do no harm', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.now() });
  const bus = createEmbeddedMessageBus({ store, clock, ids: systemIds, holder: 'one', partitions: 1 });
  onTestFinished(() => bus.close());
  await bus.publish(
    topic,
    Array.from({ length: 2_500 }, (_, index) => message('a', `${index}`)),
  );
  await clock.advance(31 * dayMs);
  const deps = { store, clock, log: silentLog };
  await Promise.all([trimTopic(deps, keep, signal), trimTopic(deps, keep, signal)]);
  expect(await textsIn(store)).toEqual(['2499']);
});
