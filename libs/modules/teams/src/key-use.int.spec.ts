import { type EventStore, StoreUnavailable } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createKeyUse, lastUseOf } from './key-use.ts';

const hour = 3_600_000;
const noon = Date.parse('2026-11-23T12:00:00Z');
const key = { team: 'shop', keyId: 'k1' };

function run(store: EventStore, clock = createFakeClock({ now: noon + 5_000 })) {
  const use = createKeyUse({ store, clock, ids: systemIds, log: silentLog });
  const stopping = new AbortController();
  const running = use.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
  };
  onTestFinished(stop);
  return { use, clock, stop };
}

/** A store that counts appends, and is unavailable for some. */
function counting(store: EventStore, away = 0) {
  const counts = { appends: 0, away };
  const counted: EventStore = {
    ...store,
    append: (...args) => {
      counts.appends += 1;
      counts.away -= 1;
      return counts.away >= 0
        ? Promise.reject(new StoreUnavailable('away', 'The store is away.'))
        : store.append(...args);
    },
  };
  return { counts, store: counted };
}

test('the hour of the last use is stored, in one event per key and hour', async () => {
  const { counts, store } = counting(await temporaryStore());
  const { use, clock } = run(store);
  expect(await lastUseOf(store, key)).toBeUndefined();
  for (let request = 0; request < 1_000; request += 1) use.note(key);
  await clock.advance(5_000);
  await eventually(async () => expect(await lastUseOf(store, key)).toBe(noon));
  expect(counts.appends).toBe(1);
  await clock.advance(hour);
  use.note(key);
  await clock.advance(5_000);
  await eventually(async () => expect(await lastUseOf(store, key)).toBe(noon + hour));
  expect(counts.appends).toBe(2);
  expect(await lastUseOf(store, { ...key, team: 'games' })).toBeUndefined();
});

test('several processes write it once', async () => {
  const { counts, store } = counting(await temporaryStore());
  const first = run(store);
  first.use.note(key);
  await first.stop();
  const others = [run(store), run(store)];
  for (const { use } of others) use.note(key);
  await Promise.all(others.map(({ stop }) => stop()));
  expect(counts.appends).toBe(1);
  expect(await lastUseOf(store, key)).toBe(noon);
});

test('a failed write is repeated later, and delays no request', async () => {
  const { store } = counting(await temporaryStore(), 2);
  const { use, clock } = run(store);
  use.note(key);
  await clock.advance(5_000);
  await clock.advance(5_000);
  expect(await lastUseOf(store, key)).toBeUndefined();
  await clock.advance(5_000);
  await eventually(async () => expect(await lastUseOf(store, key)).toBe(noon));
});
