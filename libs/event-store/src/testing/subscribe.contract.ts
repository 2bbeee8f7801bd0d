import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginning, type EventStore, type Position, type RecordedEvent } from '../event-store.ts';
import type { Stores } from './event-store.contract.ts';
import { appended, freshCategory, givenEvent, givenEvents } from './given-events.ts';
import { probe } from './subscription-probe.ts';

const namesOf = (events: readonly RecordedEvent[]) =>
  events.map((event) => `${event.stream}@${event.revision}`);

export function describeSubscribe(given: Stores): void {
  describe('subscribe', () => {
    it('delivers only streams with one of the prefixes', async () => {
      const store = given.store();
      const category = freshCategory();
      for (const stream of ['a-1', 'ab-1', 'b-1', 'c-1', 'xa-1'])
        await store.append(category + stream, givenEvents(1), 'any');
      const last = appended(await store.append(`${category}c-2`, givenEvents(1), 'any'));
      const subscription = probe(store, { prefixes: [`${category}a-`, `${category}c`] });
      await subscription.caughtUp(last.position);
      await subscription.stop();
      expect(namesOf(subscription.events())).toEqual(
        ['a-1@0', 'c-1@0', 'c-2@0'].map((name) => category + name),
      );
    });

    it('starts after the given position: of an event, of an append or of a CaughtUp', async () => {
      const store = given.store();
      const prefixes = [`${freshCategory()}-`];
      await store.append(`${prefixes[0]}1`, givenEvents(3), 'no-stream');
      const first = probe(store, { prefixes });
      await first.caughtUp();
      await first.stop();
      const last = appended(await store.append(`${prefixes[0]}1`, [givenEvent('last')], 2));
      const dataAfter = async (from: Position | undefined) => {
        const subscription = probe(store, { prefixes, from: from ?? beginning });
        await subscription.caughtUp(last.position);
        await subscription.stop();
        return subscription.events().map((event) => event.data);
      };
      expect(await dataAfter(first.events()[0]?.position)).toEqual([1, 2, 'last']);
      expect(await dataAfter(first.items.at(-1)?.position)).toEqual(['last']);
      expect(await dataAfter(last.position)).toEqual([]);
    });

    it('reports that it has caught up if there is nothing at all, and again after each new event', async () => {
      const store = given.store();
      const prefixes = [`${freshCategory()}-`];
      const subscription = probe(store, { prefixes });
      await subscription.caughtUp();
      for (let count = 0; count < 3; count += 1) {
        const { position } = appended(await store.append(`${prefixes[0]}1`, givenEvents(1), 'any'));
        await subscription.caughtUp(position);
        expect(subscription.events()).toHaveLength(count + 1);
        const lastCaughtUp = subscription.items.findLastIndex((item) => item.kind === 'caught-up');
        const lastEvent = subscription.items.findLastIndex((item) => item.kind === 'event');
        expect(lastCaughtUp).toBeGreaterThan(lastEvent);
      }
      await subscription.stop();
    });

    it('does not report again that it has caught up without a new event', async () => {
      const store = given.store();
      const category = freshCategory();
      const subscription = probe(store, { prefixes: [`${category}-`] });
      await subscription.caughtUp();
      await store.append(`${category}-1`, givenEvents(6), 'any');
      for (let before = 1; before <= 5; before += 1) await store.truncate(`${category}-1`, before);
      const { position } = appended(await store.append(`${category}-1`, givenEvents(1), 'any'));
      await subscription.caughtUp(position);
      await subscription.stop();
      const caughtUp = subscription.items.filter(({ kind }) => kind === 'caught-up');
      expect(new Set(caughtUp.map((item) => item.position)).size).toBe(caughtUp.length);
    });

    it('reports that it has caught up with events of others, which it need not deliver', async () => {
      const store = given.store();
      const subscription = probe(store, { prefixes: [`${freshCategory()}-`] });
      const { position } = appended(await store.append(`${freshCategory()}-1`, givenEvents(1), 'any'));
      await subscription.caughtUp(position);
      await subscription.stop();
      expect(subscription.events()).toEqual([]);
    });

    it('delivers thousands of events', async () => {
      const store = given.store();
      const prefixes = [`${freshCategory()}-`];
      await Promise.all(
        [1, 2, 3, 4].map((each) => store.append(`${prefixes[0]}${each}`, givenEvents(600), 'no-stream')),
      );
      const last = appended(await store.append(`${prefixes[0]}5`, givenEvents(600), 'no-stream'));
      const subscription = probe(store, { prefixes });
      await subscription.caughtUp(last.position);
      await subscription.stop();
      expect(new Set(namesOf(subscription.events())).size).toBe(3_000);
      expect(subscription.events()).toHaveLength(3_000);
    });

    it('delivers large events among those that it need not deliver', async () => {
      const store = given.store();
      const category = freshCategory();
      const large = 'x'.repeat(400_000);
      for (let count = 0; count < 10; count += 1) {
        await store.append(`${category}-1`, [givenEvent(large)], 'any');
        await store.append(`${category}x-1`, givenEvents(3), 'any');
      }
      const { position } = appended(await store.append(`${category}-1`, givenEvents(1), 'any'));
      const subscription = probe(store, { prefixes: [`${category}-`] });
      await subscription.caughtUp(position);
      await subscription.stop();
      expect(namesOf(subscription.events())).toEqual(
        Array.from({ length: 11 }, (_, revision) => `${category}-1@${revision}`),
      );
    });

    it('delivers each event once and in order, from any start and by any writer', async () => {
      const stores = [given.store(), await given.another()];
      const writes = fc.array(
        fc.record({ writer: fc.nat(1), stream: fc.nat(2), count: fc.integer({ min: 1, max: 4 }) }),
        {
          minLength: 1,
          maxLength: 15,
        },
      );
      await fc.assert(
        fc.asyncProperty(writes, fc.array(fc.nat(14), { maxLength: 3 }), async (steps, starts) => {
          await deliversEachOnce(stores, steps, starts);
        }),
        { numRuns: propertyRuns(12) },
      );
    });
  });

  describe('the end of a subscription', () => {
    it('comes without an error if the signal is aborted while it waits', async () => {
      const subscription = probe(given.store(), { prefixes: [`${freshCategory()}-`] });
      await subscription.caughtUp();
      await expect(subscription.stop()).resolves.toBeUndefined();
    });

    it('comes at once if the signal was aborted before', async () => {
      const signal = AbortSignal.abort();
      const items = await Array.fromAsync(
        given.store().subscribe({ from: beginning, prefixes: [''], signal }),
      );
      expect(items).toEqual([]);
    });

    it('comes after the event during which the signal was aborted', async () => {
      const store = given.store();
      const category = freshCategory();
      await store.append(`${category}-1`, givenEvents(10), 'no-stream');
      const controller = new AbortController();
      const found: unknown[] = [];
      for await (const item of store.subscribe({
        from: beginning,
        prefixes: [category],
        signal: controller.signal,
      })) {
        if (item.kind === 'event' && found.push(item.data) === 3) controller.abort();
      }
      expect(found).toEqual([0, 1, 2]);
    });

    it('leaves the store and other subscriptions as they were when the consumer leaves', async () => {
      const store = given.store();
      const category = freshCategory();
      await store.append(`${category}-1`, givenEvents(5), 'no-stream');
      const { signal } = new AbortController();
      for await (const item of store.subscribe({ from: beginning, prefixes: [category], signal })) {
        if (item.kind === 'event') break;
      }
      const subscription = probe(store, { prefixes: [category] });
      const last = appended(await store.append(`${category}-1`, givenEvents(1), 4));
      await subscription.caughtUp(last.position);
      await subscription.stop();
      expect(subscription.events()).toHaveLength(6);
    });
  });
}

interface Write {
  writer: number;
  stream: number;
  count: number;
}

/** All write at once while subscriptions run; then one that starts after some event must see exactly those after it. */
async function deliversEachOnce(
  stores: EventStore[],
  steps: readonly Write[],
  starts: readonly number[],
): Promise<void> {
  const category = freshCategory();
  const prefixes = [`${category}-`];
  const live = stores.map((store) => probe(store, { prefixes }));
  const answers = await Promise.all(
    steps.map(({ writer, stream, count }) =>
      stores[writer]!.append(`${category}-${stream}`, givenEvents(count), 'any').then(appended),
    ),
  );
  const last =
    answers
      .map((answer) => answer.position)
      .toSorted()
      .at(-1) ?? beginning;
  await Promise.all(live.map((each) => each.caughtUp(last)));
  const all = live[0]!.events();
  expect(all).toHaveLength(steps.reduce((sum, each) => sum + each.count, 0));
  expectGaplessStreams(all);
  for (const each of live) {
    expect(each.events()).toEqual(all);
    const positions = each.items.map(({ position }) => position);
    expect(positions.toSorted()).toEqual(positions);
  }
  for (const start of starts) {
    const late = probe(stores[start % 2]!, { prefixes, from: all[start]?.position ?? beginning });
    await late.caughtUp(last);
    await late.stop();
    expect(late.events()).toEqual(all[start] === undefined ? all : all.slice(start + 1));
  }
  await Promise.all(live.map((each) => each.stop()));
}

function expectGaplessStreams(events: readonly RecordedEvent[]): void {
  for (const ofStream of Map.groupBy(events, (event) => event.stream).values()) {
    expect(ofStream.map((event) => event.revision)).toEqual(ofStream.map((_, index) => index));
  }
}
