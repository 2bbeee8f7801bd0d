import { beginning, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { paymentStream } from '@tollgate/payment-domain';
import { createPaymentIndex } from '@tollgate/view-index';
import { shardNumberOf, shardsMax, shardsOf, type Shard } from '@tollgate/views';
import { appendEvents, appendPayment, paymentViewStream } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { silentLog, systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readProgress } from './projection.ts';
import {
  expectRebuiltIsStored,
  projected,
  startProjector,
  type RunningProjector,
} from './testing/projected.ts';

const { accepted, approved, held } = happening;
const tokens = Array.from({ length: 24 }, (_, index) => `p${index}`);

const startShards = (store: EventStore, count: number): RunningProjector[] =>
  shardsOf(count).map((shard) => startProjector(store, { shard }));

async function allProjected(store: EventStore, projectors: readonly RunningProjector[]): Promise<void> {
  for (const projector of projectors) await projected(store, projector);
}

const stopAll = (projectors: readonly RunningProjector[]) =>
  Promise.all(projectors.map((projector) => projector.stop()));

async function startIndex(store: EventStore) {
  const index = createPaymentIndex({ file: ':memory:', store, log: silentLog, clock: systemClock });
  await index.start();
  onTestFinished(() => index.stop());
  return index;
}

test('each stream belongs to one shard, and the shards share them about evenly', () => {
  const counts = [0, 0, 0, 0];
  for (let number = 0; number < 10_000; number += 1)
    counts[shardNumberOf(`payment-pay_${number.toString(36)}`, 4) - 1]! += 1;
  for (const count of counts) expect(count).toBeGreaterThan(2_000);
  expect(shardNumberOf('payment-p1', 1)).toBe(1);
});

test('four shards write the views that one writes, each only its own', async () => {
  const store = await temporaryStore();
  const writers = new Map<string, Set<number>>();
  const watched = ({ number }: Shard): EventStore => ({
    ...store,
    append: (stream, ...rest) => {
      writers.set(stream, (writers.get(stream) ?? new Set()).add(number));
      return store.append(stream, ...rest);
    },
  });
  for (const token of tokens) await appendPayment(store, token, [requested(), accepted]);
  const projectors = shardsOf(4).map((shard) => startProjector(watched(shard), { shard }));
  for (const token of tokens) await appendPayment(store, token, [held, approved]);
  await allProjected(store, projectors);
  await expectRebuiltIsStored(store, tokens.map(paymentStream));
  for (const token of tokens)
    expect([...writers.get(paymentViewStream(token))!]).toEqual([shardNumberOf(paymentStream(token), 4)]);
});

// Each start read the checkpoints of all shards of all numbers of shards: 136 streams, of which nearly none was there.
test('of a number of shards that is not in use one checkpoint is looked for', async () => {
  const store = await temporaryStore();
  await appendPayment(store, 'p1', [requested()]);
  const projectors = startShards(store, 4);
  await allProjected(store, projectors);
  await stopAll(projectors);
  const read: string[] = [];
  const watched: EventStore = {
    ...store,
    read: (stream, options) => {
      read.push(stream);
      return store.read(stream, options);
    },
  };
  const { position } = await readProgress(watched, 1);
  expect(position).not.toBe(beginning);
  expect(read).toHaveLength(shardsMax + 3);
});

test('reads have reached the position of the slowest shard', async () => {
  const store = await temporaryStore();
  const index = await startIndex(store);
  const { position } = await appendPayment(store, 'p1', [requested()]);
  const [first, ...others] = shardsOf(4);
  const projectors = others.map((shard) => startProjector(store, { shard }));
  await allProjected(store, projectors);
  expect(await index.waitFor(position, 50, 'shop')).toBe(false);
  startProjector(store, { shard: first! });
  expect(await index.waitFor(position, 10_000, 'shop')).toBe(true);
  expect(index.find('p1')).toMatchObject({ revision: 0 });
});

test.each([
  [1, 4],
  [4, 1],
  [4, 3],
])('%i shards are followed by %i, which go on where those have ended', async (before, after) => {
  const store = await temporaryStore();
  const index = await startIndex(store);
  for (const token of tokens) await appendPayment(store, token, [requested(), accepted]);
  const old = startShards(store, before);
  await allProjected(store, old);
  await stopAll(old);
  for (const token of tokens) await appendPayment(store, token, [held]);
  const from: string[] = [];
  const subscribe = vi.fn<EventStore['subscribe']>((options) => {
    from.push(options.from);
    return store.subscribe(options);
  });
  const projectors = startShards({ ...store, subscribe }, after);
  await allProjected(store, projectors);
  await expectRebuiltIsStored(store, tokens.map(paymentStream));
  const reached = old.map((projector) => projector.health().position).sort()[0];
  expect(new Set(from)).toEqual(new Set([reached]));
  const { position } = await appendPayment(store, tokens[0]!, [approved]);
  expect(await index.waitFor(position, 10_000, 'shop')).toBe(true);
  // And back again, although the checkpoints of the first number are still there, and old.
  await stopAll(projectors);
  for (const token of tokens.slice(1)) await appendPayment(store, token, [approved]);
  const again = startShards(store, before);
  await allProjected(store, again);
  await expectRebuiltIsStored(store, tokens.map(paymentStream));
});

test('nothing is skipped for a shard count that was never complete', async () => {
  const store = await temporaryStore();
  for (const token of tokens) await appendPayment(store, token, [requested()]);
  const [, second] = shardsOf(2);
  const half = startProjector(store, { shard: second! });
  await projected(store, half);
  await half.stop();
  await allProjected(store, startShards(store, 1));
  await expectRebuiltIsStored(store, tokens.map(paymentStream));
});

test('a failed stream is reported by its shard, whatever the shard count becomes', async () => {
  const store = await temporaryStore();
  const poison = { type: 'PaymentForgotten', data: {} };
  for (const token of ['p1', 'p2', 'p3'])
    await appendEvents(store, `payment-${token}`, [requested(), poison]);
  const failedOf = (projectors: readonly RunningProjector[]) =>
    projectors.flatMap((projector) => projector.health().failedStreams.map(({ stream }) => stream)).sort();
  const all = ['payment-p1', 'payment-p2', 'payment-p3'];
  for (const count of [1, 4, 2]) {
    const projectors = startShards(store, count);
    await allProjected(store, projectors);
    await eventually(() => expect(failedOf(projectors)).toEqual(all));
    await stopAll(projectors);
  }
});
