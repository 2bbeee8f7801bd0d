import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock, type FakeClock } from '@tollgate/testing';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { StoreUnavailable } from './errors.ts';
import type { EventStore } from './event-store.ts';
import { createMembers, membersStream } from './members.ts';
import { temporaryStore } from './testing/temporary-store.ts';

const waiting = { timeout: 10_000, interval: 2 };

const work = 'spec';

let store: EventStore;
let clock: FakeClock;
beforeEach(async () => {
  store = await temporaryStore();
  clock = createFakeClock({ now: Date.now() });
});

async function start(store: EventStore, clock: FakeClock, member: string, does = [work]) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const self = { member, release: '0.1.0', reads: 1 };
  const members = createMembers({ store, clock, ids: systemIds, log: silentLog, self });
  for (const each of does) void members.share(each, signal);
  await members.beat();
  const running = members.run(signal);
  const stop = () => {
    stopping.abort();
    return running;
  };
  onTestFinished(() => stop().catch(() => {}));
  return { place: (of = work) => members.place(of), living: members.living, share: members.share, stop };
}

const beatOf = (member: string) => ({
  id: systemIds.uuid(),
  type: 'MemberLives',
  metadata: {},
  data: { member, release: '0.1.0', reads: 1, shares: [work] },
});

/** Lets beats pass until the member sees this. */
async function sees(
  clock: FakeClock,
  of: Awaited<ReturnType<typeof start>>,
  place: { rank: number; count: number },
) {
  await expect
    .poll(async () => {
      await clock.advance(100);
      return of.place();
    }, waiting)
    .toEqual(place);
}

it('counts itself alone until it sees another one, and ranks both alike', async () => {
  const first = await start(store, clock, 'a');
  expect(first.place()).toEqual({ rank: 0, count: 1 });
  const second = await start(store, clock, 'b');
  await sees(clock, second, { rank: 1, count: 2 });
  await sees(clock, first, { rank: 0, count: 2 });
});

it('drops a member at once when it leaves, and after a while when it has died', async () => {
  const survivor = await start(store, clock, 'b');
  const leaving = await start(store, clock, 'a');
  await sees(clock, survivor, { rank: 1, count: 2 });
  await leaving.stop();
  await sees(clock, survivor, { rank: 0, count: 1 });
  await store.append(membersStream, [beatOf('a2')], 'any');
  await sees(clock, survivor, { rank: 1, count: 2 });
  // Its last event is still in the stream.
  await sees(clock, survivor, { rank: 0, count: 1 });
});

// Every heartbeat of the others counted as one of an earlier life: its limits were those of a single process.
it('counts living members even if its own clock is far ahead', async () => {
  await start(store, clock, 'a');
  const ahead = await start(store, { ...clock, now: () => clock.now() + 3_600_000 }, 'b');
  await sees(clock, ahead, { rank: 1, count: 2 });
});

it('does not count those of an earlier life of the system', async () => {
  const storeClock = createFakeClock({ now: Date.now() });
  const store = await temporaryStore({ clock: storeClock });
  await store.append(membersStream, [beatOf('a')], 'any');
  await storeClock.advance(3_600_000);
  const clock = createFakeClock({ now: Date.now() });
  const only = await start(store, clock, 'b');
  for (let beats = 0; beats < 20; beats += 1) {
    await clock.advance(100);
    expect(only.place()).toEqual({ rank: 0, count: 1 });
  }
});

it.each([
  [30_000, false],
  [31_000, true],
  [-31_000, true],
])(
  'a wall clock that is %d ms ahead of the store: wrong is %s, until it is corrected',
  async (aheadMs, isWrong) => {
    const storeClock = createFakeClock();
    const store = await temporaryStore({ clock: storeClock });
    const ahead = { ms: aheadMs };
    const clock = { ...storeClock, now: () => storeClock.now() + ahead.ms };
    const self = { member: 'a', release: '0.1.0', reads: 1 };
    const members = createMembers({ store, clock, ids: systemIds, log: silentLog, self });
    await members.beat();
    expect(members.isClockWrong()).toBe(isWrong);
    ahead.ms = 0;
    await members.beat();
    expect(members.isClockWrong()).toBe(false);
  },
);

it('knows the readable versions of living members, and their shares of work', async () => {
  const first = await start(store, clock, 'a', ['one']);
  const second = await start(store, clock, 'b', ['one', 'other']);
  await expect
    .poll(async () => {
      await clock.advance(100);
      return [first.place('one').count, second.place('one').count, first.living().length];
    }, waiting)
    .toEqual([2, 2, 2]);
  expect(second.place('other')).toEqual({ rank: 0, count: 1 });
  expect(first.living().map(({ member, reads }) => [member, reads])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
});

it('returns its share to the others', async () => {
  const first = await start(store, clock, 'a');
  const second = await start(store, clock, 'b', []);
  const sharing = new AbortController();
  const shared = second.share(work, sharing.signal);
  await sees(clock, first, { rank: 0, count: 2 });
  sharing.abort();
  await shared;
  await sees(clock, first, { rank: 0, count: 1 });
});

it('drops no member while the store does not answer', async () => {
  const real = await temporaryStore();
  let isAway = false;
  const store: EventStore = {
    ...real,
    append: (...given) =>
      isAway ? Promise.reject(new StoreUnavailable('gone', 'gone')) : real.append(...given),
  };
  const clock = createFakeClock({ now: Date.now() });
  await start(store, clock, 'a');
  const second = await start(store, clock, 'b');
  await sees(clock, second, { rank: 1, count: 2 });
  isAway = true;
  for (let beats = 0; beats < 20; beats += 1) {
    await clock.advance(3_000);
    expect(second.place()).toEqual({ rank: 1, count: 2 });
  }
});

it('sees living members if another store has replaced the previous one', async () => {
  const state = { real: await temporaryStore() };
  const store: EventStore = {
    ...state.real,
    append: (...given) => state.real.append(...given),
    read: (...given) => state.real.read(...given),
  };
  const clock = createFakeClock({ now: Date.now() });
  for (let beats = 0; beats < 50; beats += 1) await store.append(membersStream, [beatOf('c')], 'any');
  const first = await start(store, clock, 'a');
  await sees(clock, first, { rank: 0, count: 2 });
  state.real = await temporaryStore();
  await sees(clock, first, { rank: 0, count: 1 });
  await start(store, clock, 'b');
  await sees(clock, first, { rank: 0, count: 2 });
});
