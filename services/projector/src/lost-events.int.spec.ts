/**
 * On three nodes of an event store under repeated failures, one query service lacked the last two views of a burst. Its
 * position had passed them, nothing was logged, and its team read an expired payment as open.
 */
import { StoreUnavailable, type EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds, type Log } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { createPaymentIndex } from '@tollgate/lists';
import { appendPayment, happening, requested } from '@tollgate/views/testing';
import { expect, onTestFinished, test } from 'vitest';
import { compareReadModels } from './compare.ts';
import { projected, startProjector } from './testing/projected.ts';

const { accepted, approved, pending } = happening;
const payments = 40;
const events = payments * 4;

/** A store whose subscriptions end and fail repeatedly, at different places for each follower. */
function unsteady(store: EventStore, every: number): EventStore & { calm(): void } {
  let [count, isCalm] = [0, false];
  const strikes = () => !isCalm && (count += 1) % every === 0;
  return {
    ...store,
    calm: () => void (isCalm = true),
    async *subscribe(options) {
      if (strikes()) throw new StoreUnavailable('store_down', 'The store is down.');
      for await (const item of store.subscribe(options)) {
        if (strikes()) throw new StoreUnavailable('store_down', 'The store is down.');
        yield item;
        if (strikes()) return;
      }
    },
    async *read(stream, options) {
      if (strikes()) throw new StoreUnavailable('store_down', 'The store is down.');
      yield* store.read(stream, options);
    },
  };
}

/** Delivers all events but one, and withholds that one while configured. */
function forgetful(store: EventStore, stream: string): EventStore & { count: () => number } {
  let dropped = 0;
  return {
    ...store,
    count: () => dropped,
    async *subscribe(options) {
      for await (const item of store.subscribe(options)) {
        if (item.kind === 'event' && item.stream === stream && item.revision === 3 && dropped === 0)
          dropped += 1;
        else yield item;
      }
    },
  };
}

async function burst(store: EventStore): Promise<void> {
  const tokens = Array.from({ length: payments }, (_, number) => `p${number}`);
  for (const happened of [requested(), accepted, pending, approved])
    await Promise.all(tokens.map((token) => appendPayment(store, token, [happened])));
}

async function startIndex(store: EventStore, log: Log = silentLog) {
  const file = await temporaryFile();
  const index = createPaymentIndex({ file, store, log, clock: systemClock, ids: systemIds });
  onTestFinished(() => index.stop());
  await index.start();
  return index;
}

const compared = (store: EventStore, index: Awaited<ReturnType<typeof startIndex>>) =>
  compareReadModels({ store, index, signal: new AbortController().signal });
const allAreRight = { views: payments, ofOtherRelease: 0, differing: [], differingInIndex: [], failed: [] };
const patient = { timeout: 60_000 };

test(
  'under failures all followers have the same counts, and the state of a fold from zero',
  patient,
  async () => {
    const store = await temporaryStore();
    const stores = [unsteady(store, 37), unsteady(store, 53), unsteady(store, 71)];
    const projector = startProjector(stores[0]!);
    const indexes = [await startIndex(stores[1]!), await startIndex(stores[2]!)];
    await burst(store);
    for (const each of stores) each.calm();
    await projected(store, projector);
    const end = projector.health().position;
    for (const index of indexes) expect(await index.waitFor(end, 30_000)).toBe(true);
    for (const index of indexes) expect(await compared(store, index)).toEqual(allAreRight);
    await appendPayment(store, 'p0', [happening.reviews]);
    await projected(store, projector);
    expect([projector.health().differences, ...indexes.map((index) => index.differences())]).toEqual([
      0, 0, 0,
    ]);
  },
);

test('an index that lost an event detects it, logs it, and is rebuilt', patient, async () => {
  const store = await temporaryStore();
  const losing = forgetful(store, 'payment-p7');
  const errors: string[] = [];
  const index = await startIndex(losing, { ...silentLog, error: (_, text) => void errors.push(text) });
  await burst(store);
  expect(await index.waitFor(await store.head(), 30_000)).toBe(true);
  expect([losing.count(), index.find('p7')?.revision]).toEqual([1, 2]);
  expect((await compared(store, index)).differingInIndex).toEqual(['payment-p7']);
  await projected(store, startProjector(store));
  await eventually(() => expect(index.find('p7')?.revision).toBe(3));
  expect(index.differences()).toBe(1);
  expect(errors).toEqual([expect.stringContaining(`"payment-":${events - 1}`)]);
  await eventually(async () => expect(await compared(store, index)).toEqual(allAreRight));
});

test('a projector that lost an event is informed by an index, and projects again', patient, async () => {
  const store = await temporaryStore();
  const losing = forgetful(store, 'payment-p7');
  const projector = startProjector(losing);
  const index = await startIndex(store);
  await burst(store);
  await projected(store, projector);
  await eventually(() => expect(projector.health().differences).toBe(1));
  await projected(store, projector);
  await eventually(async () => expect(await compared(store, index)).toEqual(allAreRight));
});
