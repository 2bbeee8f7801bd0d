import { randomUUID } from 'node:crypto';
import { beginning, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import {
  checkpointStreamOf,
  onlyShard,
  viewSchemaVersions,
  viewStreamOf,
  viewVersionsToRemove,
} from '@tollgate/views';
import { appendPayment, storedViews, writeViewVersions } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { eventually } from '@tollgate/testing';
import { expect, test } from 'vitest';
import { rebuild } from './rebuild.ts';
import { removeUnreadViews, streamsPerSecondMax } from './remove-views.ts';
import { projected, startProjector } from './testing/projected.ts';
import { createViewWriter } from './view-writer.ts';

const parts = { clock: systemClock, ids: systemIds, log: silentLog };
const streams = Array.from({ length: 1_200 }, (_, index) => `payment-p${index}`);
const live = (number: number, schemas = viewSchemaVersions) => ({ number, schemas, state: 'live' as const });

/** Three versions of views, of which only the last one is live. */
async function givenOldViews(): Promise<EventStore> {
  const store = await temporaryStore();
  for (const viewVersion of [1, 2, 3])
    await Promise.all(
      streams.slice(viewVersion === 2 ? 0 : 1_000).map((stream) => {
        const event = { id: randomUUID(), type: 'PaymentViewWritten', data: {}, metadata: {} };
        return store.append(viewStreamOf(stream, viewVersion), [event], 'no-stream');
      }),
    );
  await writeViewVersions(store, [live(1, 'of another release'), live(3), { ...live(4), state: 'building' }]);
  return store;
}

/** Time passes only where it is waited for. */
function patientClock() {
  let sleptMs = 0;
  const sleep = async (durationMs: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    sleptMs += durationMs;
  };
  return { clock: { ...systemClock, monotonic: () => 0, sleep }, sleptMs: () => sleptMs };
}

const remove = (store: EventStore, signal = new AbortController().signal, clock = patientClock().clock) =>
  removeUnreadViews({ ...parts, clock, store, signal, graceMs: 0 });

const countOf = async (store: EventStore, viewVersion: number) =>
  (await storedViews(store, viewVersion)).size;

test('views that nobody reads are removed, at a bounded rate, and no others', async () => {
  const store = await givenOldViews();
  const { clock, sleptMs } = patientClock();
  expect(await viewVersionsToRemove(store)).toEqual([2]);
  await remove(store, undefined, clock);
  expect([await countOf(store, 1), await countOf(store, 2), await countOf(store, 3)]).toEqual([200, 0, 200]);
  expect(await viewVersionsToRemove(store)).toEqual([]);
  expect(sleptMs()).toBeCloseTo((streams.length / streamsPerSecondMax) * 1_000, 0);
});

test('a removal that was killed is continued near where it ended', async () => {
  const store = await givenOldViews();
  const killing = new AbortController();
  let removed = 0;
  const killed: EventStore = {
    ...store,
    remove: async (stream) => {
      removed += 1;
      if (removed <= 1_100) await store.remove(stream);
      else killing.abort();
    },
  };
  await remove(killed, killing.signal);
  expect(await countOf(store, 2)).toBe(100);
  expect(await viewVersionsToRemove(store)).toEqual([2]);
  const froms: string[] = [];
  const subscribe: EventStore['subscribe'] = (options) => {
    froms.push(options.from);
    return store.subscribe(options);
  };
  await remove({ ...store, subscribe });
  expect(froms).not.toContain(beginning);
  expect(await countOf(store, 2)).toBe(0);
});

test('the projector removes the version before after a rebuild, and a slower one cannot bring it back', async () => {
  const store = await temporaryStore();
  await appendPayment(store, 'p1', [requested(), happening.accepted]);
  const projector = startProjector(store, { removalGraceMs: 0 });
  await projected(store, projector);
  const signal = new AbortController().signal;
  await rebuild({ ...parts, store, holder: 'spec', signal });
  await eventually(async () => expect(await viewVersionsToRemove(store)).toEqual([]));
  expect([await countOf(store, 1), await countOf(store, 2)]).toEqual([0, 1]);
  expect(await Array.fromAsync(store.read(checkpointStreamOf(1, onlyShard)))).toEqual([]);
  const slower = createViewWriter({ ...parts, store, viewVersion: 1, cachedViewsMax: 10 });
  const events = await Array.fromAsync(store.read('payment-p1'));
  await expect(slower.write('payment-p1', events)).rejects.toMatchObject({ code: 'stream_removed' });
});
