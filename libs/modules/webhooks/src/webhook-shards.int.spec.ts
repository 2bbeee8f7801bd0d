import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { happening } from '@tollgate/views/testing';
import { eventually } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { startReceiver } from './testing/receiver.ts';
import { pay, start, statesOf } from './testing/running.ts';
import { type Shard, isDeliveredBy, limitsOf, shardsOf } from './fair-queue.ts';
import { webhookStreamPrefix } from './webhook-events.ts';

const { approved } = happening;
const tokens = Array.from({ length: 24 }, (_, number) => `pay_${number}`);

/** The store as one shard sees it, with the streams of webhooks that it has written to. */
function watched(store: EventStore) {
  const written = new Set<string>();
  const append: EventStore['append'] = (stream, events, ...rest) => {
    if (stream.startsWith(webhookStreamPrefix))
      for (const { type } of events) written.add(`${type} ${stream.slice(webhookStreamPrefix.length)}`);
    return store.append(stream, events, ...rest);
  };
  return { store: { ...store, append }, written };
}

const startAll = (store: EventStore, count: number) =>
  shardsOf(count).map((shard) => {
    const { store: own, written } = watched(store);
    return { shard, written, ...start(own, { shard }) };
  });

const stopAll = (running: readonly { stop: () => Promise<void> }[]) =>
  Promise.all(running.map(({ stop }) => stop()));

async function delivered(store: EventStore, of: readonly string[]): Promise<void> {
  for (const token of of)
    await eventually(async () => expect(await statesOf(store, token), token).toEqual(['delivered']));
}

it('three shards send each webhook once, each its own, and the first one records all', async () => {
  const [store, receiver] = [await temporaryStore(), await startReceiver()];
  const running = startAll(store, 3);
  for (const token of tokens) await pay(store, receiver, { token, events: [approved] });
  await delivered(store, tokens);
  expect(new Set(receiver.ids()).size).toBe(receiver.received.length);
  expect(receiver.received).toHaveLength(tokens.length);
  for (const { shard, written } of running) {
    const recorded = shard.number === 1 ? tokens.map((token) => `WebhookDue ${token}`) : [];
    const own = tokens.filter((token) => isDeliveredBy(shard, token));
    expect(own.length).toBeGreaterThan(2);
    expect([...written].sort()).toEqual([...recorded, ...own.map((token) => `Delivered ${token}`)].sort());
  }
});

it('another number of shards sends the remaining webhooks of the previous one, and vice versa', async () => {
  const [store, receiver] = [await temporaryStore(), await startReceiver()];
  receiver.react(() => 'hang');
  const before = startAll(store, 1);
  for (const token of tokens) await pay(store, receiver, { token, events: [approved] });
  await eventually(() => expect(receiver.waiting().now).toBe(4));
  await stopAll(before);
  const countBefore = receiver.received.length;
  receiver.react(() => 204);
  const after = startAll(store, 2);
  await delivered(store, tokens);
  await stopAll(after);
  const back = startAll(store, 1);
  await pay(store, receiver, { token: 'pay_last', events: [approved] });
  await delivered(store, ['pay_last']);
  await stopAll(back);
  expect(receiver.received.length - countBefore).toBe(tokens.length + 1);
});

it('all webhooks of one standing endpoint belong to one shard, for all subjects', () => {
  const shards = shardsOf(4);
  const shardOf = (token: string): Shard[] => shards.filter((shard) => isDeliveredBy(shard, token));
  expect(new Set(tokens.flatMap((token) => shardOf(`we_1.${token}`)))).toEqual(new Set(shardOf('we_1')));
  expect(shardOf('we_1')).toHaveLength(1);
  expect(new Set(tokens.flatMap(shardOf)).size).toBe(4);
});

it('all shards together keep the concurrency limit of one notifier', () => {
  const limits = { total: 64, perTeam: 8, perOrigin: 4 };
  const [one] = shardsOf(1);
  expect(limitsOf(one!, limits)).toEqual(limits);
  for (const count of [2, 3, 4]) {
    const [first] = shardsOf(count);
    const own = limitsOf(first!, limits);
    expect(own.perTeam * count).toBeLessThanOrEqual(limits.perTeam);
    expect(own.perOrigin * count).toBeLessThanOrEqual(limits.perOrigin);
    expect(own.perOrigin).toBeGreaterThan(0);
  }
});
