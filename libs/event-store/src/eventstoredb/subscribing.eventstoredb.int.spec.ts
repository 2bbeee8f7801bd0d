import { describe, expect, it, vi } from 'vitest';
import { beginning, type Position } from '../event-store.ts';
import { servedStore } from '../testing/eventstoredb-store.ts';
import { appended, freshCategory, givenEvent, givenEvents } from '../testing/given-events.ts';
import { probe } from '../testing/subscription-probe.ts';

vi.setConfig({ testTimeout: 60_000 });

const waiting = { timeout: 20_000, interval: 2 };
const dataOf = (subscription: ReturnType<typeof probe>) => subscription.events().map((event) => event.data);

describe('a subscription resumes at its own position', () => {
  it('when the server ends it without an error', async () => {
    const { store, server } = await servedStore();
    const category = freshCategory();
    const subscription = probe(store, { prefixes: [`${category}-`] });
    await store.append(`${category}-1`, givenEvents(3), 'no-stream');
    await expect.poll(() => dataOf(subscription), waiting).toEqual([0, 1, 2]);
    const begun = server.subscriptionCount();
    await server.endSubscriptions();
    const last = appended(await store.append(`${category}-1`, [givenEvent(3)], 2));
    await subscription.caughtUp(last.position);
    await subscription.stop();
    expect(dataOf(subscription)).toEqual([0, 1, 2, 3]);
    expect(server.subscriptionCount()).toBeGreaterThan(begun);
  });

  it('when the server fails in the middle, without a gap and without a duplicate', async () => {
    const { store, server, kept } = await servedStore();
    const category = freshCategory();
    const subscription = probe(store, { prefixes: [`${category}-`] });
    await kept.append(`${category}-1`, givenEvents(500), 'no-stream');
    await expect.poll(() => subscription.events().length, waiting).toBeGreaterThan(0);
    server.goDown();
    await expect.poll(() => store.isReachable(), waiting).toBe(false);
    const last = appended(await kept.append(`${category}-1`, givenEvents(500), 499));
    await server.comeBack();
    await expect.poll(() => store.isReachable(), waiting).toBe(true);
    await expect.poll(() => subscription.events().at(-1)?.revision, waiting).toBe(999);
    await subscription.stop();
    expect(subscription.events().map(({ revision }) => revision)).toEqual(
      Array.from({ length: 1_000 }, (_, revision) => revision),
    );
    expect(last.revision).toBe(999);
  });

  it('when it is silent, and an expected event is overdue', async () => {
    const { store, server } = await servedStore({ lateMs: 100 });
    const category = freshCategory();
    const subscription = probe(store, { prefixes: [`${category}-`] });
    await subscription.caughtUp();
    server.faults.subscriptionsAreSilent = true;
    const last = appended(await store.append(`${category}-1`, givenEvents(1), 'no-stream'));
    await expect.poll(() => server.subscriptionCount(), waiting).toBeGreaterThan(1);
    expect(dataOf(subscription)).toEqual([]);
    server.faults.subscriptionsAreSilent = false;
    await subscription.caughtUp(last.position);
    await subscription.stop();
    expect(dataOf(subscription)).toEqual([0]);
  });
});

// Each follower of a process read, parsed and looked ahead by itself: two thirds of the cost of a creation on an idle machine.
describe('subscriptions of one store', () => {
  it('share one at the server when they have caught up, each with its own events', async () => {
    const { store, server } = await servedStore();
    const categories = Array.from({ length: 5 }, freshCategory);
    const subscriptions = categories.map((category) => probe(store, { prefixes: [`${category}-`] }));
    for (const subscription of subscriptions) await subscription.caughtUp();
    const appendToAll = async (data: number, expected: 'no-stream' | number) => {
      for (const category of categories) await store.append(`${category}-1`, [givenEvent(data)], expected);
    };
    await appendToAll(0, 'no-stream');
    for (const subscription of subscriptions)
      await expect.poll(() => dataOf(subscription), waiting).toEqual([0]);
    const begun = server.subscriptionCount();
    await server.endSubscriptions();
    await appendToAll(1, 0);
    for (const subscription of subscriptions)
      await expect.poll(() => dataOf(subscription), waiting).toEqual([0, 1]);
    expect(server.subscriptionCount()).toBe(begun + 1);
    for (const subscription of subscriptions) await subscription.stop();
  });

  it('miss nothing if one lags beyond the shared buffer', async () => {
    const { store, kept } = await servedStore();
    const category = freshCategory();
    const quick = probe(store, { prefixes: [`${category}-`] });
    const handled: number[] = [];
    const leaving = new AbortController();
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<undefined>();
    const slow = (async () => {
      for await (const item of store.subscribe({
        from: beginning,
        prefixes: [`${category}-`],
        signal: leaving.signal,
      })) {
        if (item.kind !== 'event') continue;
        if (item.revision === 1) await mayGoOn;
        handled.push(item.revision);
        if (handled.length === 3_002) leaving.abort();
      }
    })();
    await store.append(`${category}-1`, [givenEvent(0)], 'no-stream');
    await expect.poll(() => handled, waiting).toEqual([0]);
    for (let revision = 0; revision < 3_000; revision += 500)
      await kept.append(`${category}-1`, givenEvents(500), revision);
    await expect.poll(() => quick.events().length, waiting).toBe(3_001);
    goOn(undefined);
    await store.append(`${category}-1`, [givenEvent(3_001)], 3_000);
    await slow;
    expect(handled).toEqual(Array.from({ length: 3_002 }, (_, revision) => revision));
    await quick.stop();
  });

  it('deliver earlier events to a later one', async () => {
    const { store } = await servedStore();
    const [one, other] = [freshCategory(), freshCategory()];
    const first = probe(store, { prefixes: [`${one}-`] });
    await first.caughtUp();
    await store.append(`${one}-1`, givenEvents(3), 'no-stream');
    await store.append(`${other}-1`, givenEvents(3), 'no-stream');
    await expect.poll(() => dataOf(first), waiting).toEqual([0, 1, 2]);
    const second = probe(store, { prefixes: [`${other}-`, `${one}-`] });
    await second.caughtUp();
    const last = appended(await store.append(`${other}-1`, [givenEvent(3)], 2));
    await second.caughtUp(last.position);
    expect(dataOf(second)).toEqual([0, 1, 2, 0, 1, 2, 3]);
    await first.stop();
    const after = appended(await store.append(`${one}-1`, [givenEvent(3)], 2));
    await second.caughtUp(after.position);
    expect(dataOf(second)).toEqual([0, 1, 2, 0, 1, 2, 3, 3]);
    await second.stop();
  });
});

// Each was considered dead before it delivered its first event, and another one began at its start.
it('waits longer for a server that is slow each time', async () => {
  const { store, server } = await servedStore({ lateMs: 50 });
  const category = freshCategory();
  server.faults.subscriptionsTakeMs = 300;
  const last = appended(await store.append(`${category}-1`, givenEvents(1), 'no-stream'));
  const subscription = probe(store, { prefixes: [`${category}-`] });
  await subscription.caughtUp(last.position);
  await subscription.stop();
  expect(dataOf(subscription)).toEqual([0]);
});

describe('the progress of a subscription', () => {
  it('is never ahead of the handled events, although the server reports checkpoints earlier', async () => {
    const { store, kept } = await servedStore();
    const category = freshCategory();
    // Enough for checkpoints between the wanted events, which lie in buffers while the first is being handled.
    for (let round = 0; round < 5; round += 1) {
      await kept.append(`${category}-1`, givenEvents(1), 'any');
      await kept.append(`${category}x-1`, givenEvents(100), 'any');
    }
    const handled: Position[] = [];
    const { signal } = new AbortController();
    for await (const item of store.subscribe({ from: beginning, prefixes: [`${category}-`], signal })) {
      if (item.kind === 'caught-up') break;
      await new Promise((resolve) => setTimeout(resolve, 20));
      handled.push(item.position);
    }
    expect(handled).toHaveLength(5);
    expect(handled.toSorted()).toEqual(handled);
  });

  it('moves past events that need not be delivered, so that another start does not read them again', async () => {
    const { store } = await servedStore();
    const subscription = probe(store, { prefixes: [`${freshCategory()}-`] });
    const { position } = appended(await store.append(`${freshCategory()}-1`, givenEvents(200), 'any'));
    await subscription.caughtUp(position);
    await subscription.stop();
    expect(subscription.items.at(-1)).toMatchObject({ kind: 'caught-up', position });
  });
});

it('cancels its subscription at the server when the consumer leaves', async () => {
  const { store, server } = await servedStore();
  const { signal } = new AbortController();
  await store.append(`${freshCategory()}-1`, givenEvents(1), 'no-stream');
  for await (const item of store.subscribe({ from: beginning, prefixes: [''], signal }))
    if (item.kind === 'event') break;
  await expect.poll(() => server.openSubscriptionCount(), waiting).toBe(0);
});

it('delivers everything but system events to a subscription to all streams, and nothing to one to none', async () => {
  const { store } = await servedStore();
  const { position } = appended(await store.append('one-1', givenEvents(2), 'no-stream'));
  // The metadata of the stream is a system event.
  await store.truncate('one-1', 1);
  const [all, none] = [probe(store, { prefixes: [''] }), probe(store, { prefixes: [] })];
  for (const each of [all, none]) await each.caughtUp(position);
  await Promise.all([all.stop(), none.stop()]);
  expect(dataOf(all)).toEqual([0, 1]);
  expect(dataOf(none)).toEqual([]);
});

it('delivers data that is not JSON as text, and continues', async () => {
  const { store, kept } = await servedStore();
  const category = freshCategory();
  const bytes = (text: string, isJson: boolean) => ({
    $bytes: Buffer.from(text).toString('base64'),
    isJson,
  });
  const foreign = [bytes('{"broken', true), bytes('binary', false)].map((data) => givenEvent(data));
  await kept.append(`${category}-1`, [...foreign, givenEvent({ sound: true })], 'no-stream');
  const subscription = probe(store, { prefixes: [`${category}-`] });
  await expect.poll(() => subscription.events().length, waiting).toBe(3);
  await subscription.stop();
  expect(dataOf(subscription)).toEqual(['{"broken', 'binary', { sound: true }]);
});

it('refuses a position that another kind of store has written', async () => {
  const { store } = await servedStore();
  const { signal } = new AbortController();
  const from = '0000000000000007' as Position;
  await expect(Array.fromAsync(store.subscribe({ from, prefixes: [''], signal }))).rejects.toMatchObject({
    code: 'position_invalid',
  });
});
