import { StoreUnavailable, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { systemIds } from '@tollgate/service-kit';
import { createFakeClock, type FakeClock } from '@tollgate/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BusRecord } from '../message-bus.ts';
import { memberProbe, message, textOf, waiting } from '../testing/member-probe.ts';
import { topicStream } from './records.ts';
import { createEmbeddedMessageBus, type EmbeddedMessageBusOptions } from './embedded-message-bus.ts';

const leaseDurationMs = 9_000;
const topic = 'provider.callbacks.v1';
const group = 'command-service';

function givenBus(store: EventStore, options: Partial<EmbeddedMessageBusOptions> = {}) {
  const clock = createFakeClock();
  const defaults = { store, clock, ids: systemIds, holder: 'one', leaseDurationMs };
  const bus = createEmbeddedMessageBus({ ...defaults, ...options });
  onTestFinished(() => bus.close());
  return bus;
}

/** Advances time in small steps until the condition holds; returns the elapsed time. */
async function passTime(clock: FakeClock, until: () => boolean): Promise<number> {
  const startedAt = clock.monotonic();
  for (let step = 0; step < 200 && !until(); step += 1) {
    await expect.poll(() => clock.sleeperCount() > 0 || until(), waiting).toBe(true);
    if (!until()) await clock.advance(leaseDurationMs / 30);
  }
  expect(until()).toBe(true);
  return clock.monotonic() - startedAt;
}

/** A handler that does not return until it is released. */
function hangingHandler() {
  const [called, finish] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const handle = async () => {
    called.resolve(undefined);
    await finish.promise;
  };
  onTestFinished(() => finish.resolve(undefined));
  return { handle, called: called.promise, finish: () => finish.resolve(undefined) };
}

describe('a member that is dead', () => {
  it('loses its topics when its leases end, commits nothing when it resumes, and stands by', async () => {
    const store = await temporaryStore();
    const [clock, stoppedClock] = [createFakeClock(), createFakeClock()];
    const hanging = hangingHandler();
    // While its clock stands still, it does not renew its lease.
    const dead = memberProbe(givenBus(store, { clock: stoppedClock }), {
      group,
      topics: [topic],
      handle: hanging.handle,
    });
    const publisher = givenBus(store);
    await publisher.publish(topic, [message('k', '0'), message('k', '1')]);
    await hanging.called;
    const second = memberProbe(givenBus(store, { clock, holder: 'two' }), { group, topics: [topic] });
    expect(await passTime(clock, () => second.records.length >= 2)).toBeGreaterThanOrEqual(leaseDurationMs);
    hanging.finish();
    await dead.received(1);
    const seenByDead = dead.values();
    await publisher.publish(topic, [message('k', '2')]);
    await second.received(3);
    expect(second.values()).toEqual(['0', '1', '2']);
    expect(dead.values()).toEqual(seenByDead);
    await second.stop();
    await publisher.publish(topic, [message('k', '3')]);
    await passTime(stoppedClock, () => dead.records.length > seenByDead.length);
    expect(dead.values()).toEqual([...seenByDead, '3']);
    await dead.stop();
  });

  it('loses its topics at once if it is known to be gone', async () => {
    const [store, clock] = [await temporaryStore(), createFakeClock()];
    const hanging = hangingHandler();
    const dead = memberProbe(givenBus(store, { holder: 'pid 4711' }), {
      group,
      topics: [topic],
      handle: hanging.handle,
    });
    await givenBus(store).publish(topic, [message('k', '0')]);
    await hanging.called;
    const isGone = (holder: string) => holder === 'pid 4711';
    const second = memberProbe(givenBus(store, { clock, holder: 'pid 4712', isGone }), {
      group,
      topics: [topic],
    });
    await second.received(1);
    expect(clock.monotonic()).toBe(0);
    hanging.finish();
    await Promise.all([dead.stop(), second.stop()]);
  });
});

describe('a store that fails for a while', () => {
  it('makes publish reject as retryable, and the members continue afterwards', async () => {
    const [store, clock] = [await temporaryStore(), createFakeClock()];
    let [isDown, hasFailed] = [false, false];
    const failing: EventStore = {
      ...store,
      append: async (...append) => {
        if (isDown) throw new StoreUnavailable('store_full', 'The disk is full in this test.');
        return store.append(...append);
      },
    };
    const bus = givenBus(failing, { clock });
    const handle = async (batch: readonly BusRecord[]) => {
      // The commit of the first record fails.
      isDown ||= textOf(batch[0]!) === '0' && batch.length === 1 && !hasFailed;
      hasFailed = true;
    };
    const member = memberProbe(bus, { group, topics: [topic], handle });
    await bus.publish(topic, [message('k', '0')]);
    await expect.poll(() => isDown, waiting).toBe(true);
    await expect(bus.publish(topic, [message('k', '1')])).rejects.toMatchObject({
      code: 'bus_unavailable',
      retryable: true,
    });
    isDown = false;
    await bus.publish(topic, [message('k', '2')]);
    await passTime(clock, () => member.values().includes('2'));
    // The first one was handled, and not committed.
    expect([...new Set(member.values())]).toEqual(['0', '2']);
    await member.stop();
  });
});

describe('a topic', () => {
  it('continues with the records that are left, with the offsets that they had', async () => {
    const store = await temporaryStore();
    const bus = givenBus(store);
    await bus.publish(
      topic,
      ['0', '1', '2', '3'].map((text) => message('k', text)),
    );
    await store.truncate(topicStream(topic), 2);
    const member = memberProbe(bus, { group, topics: [topic] });
    await member.received(2);
    await member.stop();
    expect(member.records.map((record) => [record.offset, textOf(record)])).toEqual([
      ['2', '2'],
      ['3', '3'],
    ]);
  });

  it('is distinguished from one whose name has the same prefix', async () => {
    const store = await temporaryStore();
    const bus = givenBus(store);
    const member = memberProbe(bus, { group, topics: ['a'] });
    for (const name of ['a-b', 'a.b', 'ab', 'a']) await bus.publish(name, [message('k', name)]);
    await member.received(1);
    await member.stop();
    expect(member.values()).toEqual(['a']);
  });

  it.each(['', 'two words', 'colon:', 'é', 'x'.repeat(101)])(
    'cannot be called %j, nor can a group',
    async (name) => {
      const bus = givenBus(await temporaryStore());
      const { signal } = new AbortController();
      await expect(bus.publish(name, [message('k', 'v')])).rejects.toMatchObject({
        code: 'bus_name_invalid',
      });
      await expect(
        bus.subscribe({ group: name, topics: [topic], signal }, async () => {}),
      ).rejects.toMatchObject({
        code: 'bus_name_invalid',
      });
    },
  );

  it('refuses a message of more than 1 MiB, and accepts the next one', async () => {
    const bus = givenBus(await temporaryStore());
    const large = message('k', 'x'.repeat(1_048_577));
    await expect(bus.publish(topic, [large])).rejects.toMatchObject({
      code: 'append_too_large',
      retryable: false,
    });
    await bus.publish(topic, [message('k', 'small')]);
    const member = memberProbe(bus, { group, topics: [topic] });
    await member.received(1);
    await member.stop();
    expect(member.values()).toEqual(['small']);
  });
});

describe('handled records', () => {
  const weekMs = 7 * 86_400_000;

  it('are deleted a thousand at a time once they are a week old, and others are kept', async () => {
    const store = await temporaryStore();
    const clock = createFakeClock({ now: Date.now() });
    const bus = givenBus(store, { clock });
    const publish = (count: number) =>
      bus.publish(
        topic,
        Array.from({ length: count }, (_, index) => message('k', String(index))),
      );
    const offsets = async () =>
      (await Array.fromAsync(store.read(topicStream(topic)))).map(({ revision }) => revision);
    await publish(1_500);
    const member = memberProbe(bus, { group, topics: [topic] });
    await member.received(1_500);
    expect(await offsets()).toHaveLength(1_500);
    await member.stop();
    const later = givenBus(store, { clock: createFakeClock({ now: Date.now() + weekMs + 60_000 }) });
    const next = memberProbe(later, { group, topics: [topic] });
    await publish(600);
    await next.received(600);
    await next.stop();
    expect([(await offsets())[0], (await offsets()).length]).toEqual([1_000, 1_100]);
  });
});
