import type { Position } from '@tollgate/event-store';
import { type Clock, systemClock } from '@tollgate/service-kit';
import { expect, test } from 'vitest';
import {
  briefMax,
  briefOfTeamMax,
  createPositionWatch,
  waitingMax,
  waitingOfTeamMax,
} from './position-watch.ts';

const at = (number: number) => number.toString().padStart(16, '0') as Position;

/** A clock whose sleepers wake when the test says so. */
function stoppedClock() {
  const sleeping = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    sleep: (_durationMs, signal) =>
      new Promise((resolve, reject) => {
        sleeping.add(resolve);
        signal?.addEventListener('abort', () => {
          sleeping.delete(resolve);
          reject(signal.reason as Error);
        });
      }),
  };
  return { clock, sleeping, wakeAll: () => sleeping.forEach((wake) => wake()) };
}

test('a call for a position that is already reached does not wait', async () => {
  const { clock, sleeping } = stoppedClock();
  const watch = createPositionWatch(clock);
  watch.moveTo(at(5));
  expect(await watch.waitFor(at(5), 1_000, 'shop')).toBe(true);
  expect(sleeping.size).toBe(0);
});

test('a waiting call resolves when the position is reached, and its timer ends', async () => {
  const { clock, sleeping } = stoppedClock();
  const watch = createPositionWatch(clock);
  const waits = [watch.waitFor(at(5), 1_000, 'shop'), watch.waitFor(at(9), 1_000, 'shop')];
  watch.moveTo(at(5));
  expect(await waits[0]).toBe(true);
  expect(sleeping.size).toBe(1);
  watch.moveTo(at(10));
  expect(await waits[1]).toBe(true);
  expect(sleeping.size).toBe(0);
});

test('it never moves back', () => {
  const watch = createPositionWatch(stoppedClock().clock);
  watch.moveTo(at(5));
  watch.moveTo(at(4));
  expect(watch.current()).toBe(at(5));
});

test('a call that waits too long, or until the watch ends, resolves as not reached', async () => {
  const { clock, wakeAll } = stoppedClock();
  const watch = createPositionWatch(clock);
  const first = watch.waitFor(at(5), 1_000, 'shop');
  wakeAll();
  expect(await first).toBe(false);
  const second = watch.waitFor(at(5), 1_000, 'shop');
  watch.end();
  expect(await second).toBe(false);
  expect(await watch.waitFor(at(5), 1_000, 'shop')).toBe(false);
});

test('more waiting calls than the limits, of all and of one team, are turned away at once', async () => {
  const { clock, wakeAll } = stoppedClock();
  const watch = createPositionWatch(clock);
  const waitAs = (team: string) => watch.waitFor(at(1), 1_000, team);
  const ofShop = Array.from({ length: waitingOfTeamMax }, () => waitAs('shop'));
  expect(await waitAs('shop')).toBe(false);
  // Others are not kept from waiting by that, until there are too many of all.
  const left = waitingMax - waitingOfTeamMax;
  const ofOthers = Array.from({ length: left }, (_, number) => waitAs(`team-${number}`));
  expect(await waitAs('games')).toBe(false);
  wakeAll();
  expect(new Set(await Promise.all([...ofShop, ...ofOthers]))).toEqual(new Set([false]));
  const again = [waitAs('shop'), waitAs('games')];
  watch.moveTo(at(1));
  expect(await Promise.all(again)).toEqual([true, true]);
});

test('who did not ask for it waits as well, and takes no place of those that did', async () => {
  const { clock } = stoppedClock();
  const watch = createPositionWatch(clock);
  const waits = Array.from({ length: briefOfTeamMax }, () => watch.waitBriefly(at(5), 'shop'));
  expect(await watch.waitBriefly(at(5), 'shop')).toBe(false);
  const others = Array.from({ length: briefMax - briefOfTeamMax }, (_, index) =>
    watch.waitBriefly(at(5), `team-${Math.floor(index / briefOfTeamMax)}`),
  );
  expect(await watch.waitBriefly(at(5), 'games')).toBe(false);
  const asked = watch.waitFor(at(5), 1_000, 'shop');
  watch.moveTo(at(5));
  expect(new Set(await Promise.all([...waits, ...others, asked]))).toEqual(new Set([true]));
  expect(await watch.waitBriefly(at(5), 'shop')).toBe(true);
});

// With one of two projectors gone, each read of a list waited for the position of what the one before it had shown.
test('who did not ask for it waits in vain three times, until something moves', async () => {
  const { clock, sleeping, wakeAll } = stoppedClock();
  const watch = createPositionWatch(clock);
  for (let count = 0; count < 3; count += 1) {
    const wait = watch.waitBriefly(at(5), 'shop');
    expect(sleeping.size).toBe(1);
    wakeAll();
    expect(await wait).toBe(false);
    sleeping.clear();
  }
  expect(await watch.waitBriefly(at(5), 'shop')).toBe(false);
  expect(sleeping.size).toBe(0);
  watch.moveTo(at(2));
  const third = watch.waitBriefly(at(5), 'shop');
  watch.moveTo(at(5));
  expect(await third).toBe(true);
});
