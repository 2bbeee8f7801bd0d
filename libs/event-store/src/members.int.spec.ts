import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock, type FakeClock } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import type { EventStore } from './event-store.ts';
import { createMembers } from './members.ts';
import { temporaryStore } from './testing/temporary-store.ts';

const waiting = { timeout: 10_000, interval: 2 };

function start(store: EventStore, clock: FakeClock, member: string) {
  const stopping = new AbortController();
  const members = createMembers({ store, clock, ids: systemIds, log: silentLog, name: 'spec', member });
  const running = members.run(stopping.signal);
  const stop = () => {
    stopping.abort();
    return running;
  };
  onTestFinished(() => stop().catch(() => {}));
  return { place: () => members.place(), stop };
}

/** Lets beats pass until the member sees this. */
async function sees(clock: FakeClock, of: ReturnType<typeof start>, place: { rank: number; count: number }) {
  await expect
    .poll(async () => {
      await clock.advance(100);
      return of.place();
    }, waiting)
    .toEqual(place);
}

it('counts itself alone until it sees another one, and ranks both alike', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.now() });
  const first = start(store, clock, 'a');
  expect(first.place()).toEqual({ rank: 0, count: 1 });
  const second = start(store, clock, 'b');
  await sees(clock, second, { rank: 1, count: 2 });
  await sees(clock, first, { rank: 0, count: 2 });
});

it('forgets at once who has left, and after a while who has died', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.now() });
  const survivor = start(store, clock, 'b');
  const leaving = start(store, clock, 'a');
  await sees(clock, survivor, { rank: 1, count: 2 });
  await leaving.stop();
  await sees(clock, survivor, { rank: 0, count: 1 });
  const data = { member: 'a2' };
  await store.append(
    'members-spec',
    [{ id: systemIds.uuid(), type: 'MemberLives', data, metadata: {} }],
    'any',
  );
  await sees(clock, survivor, { rank: 1, count: 2 });
  // Its last event is still in the stream.
  await sees(clock, survivor, { rank: 0, count: 1 });
});

// It took every beat of theirs for one of an earlier life: its limits were those of a process that is alone.
it('counts those who live where its own clock is far ahead', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.now() });
  start(store, clock, 'a');
  const ahead = start(store, { ...clock, now: () => clock.now() + 3_600_000 }, 'b');
  await sees(clock, ahead, { rank: 1, count: 2 });
});

it('does not count those of an earlier life of the system', async () => {
  const store = await temporaryStore();
  // The store's clock is the system's: a member whose clock is an hour ahead sees an event that is an hour old.
  const clock = createFakeClock({ now: Date.now() + 3_600_000 });
  const data = { member: 'a' };
  await store.append(
    'members-spec',
    [{ id: systemIds.uuid(), type: 'MemberLives', data, metadata: {} }],
    'any',
  );
  const only = start(store, clock, 'b');
  for (let beats = 0; beats < 20; beats += 1) {
    await clock.advance(100);
    expect(only.place()).toEqual({ rank: 0, count: 1 });
  }
});
