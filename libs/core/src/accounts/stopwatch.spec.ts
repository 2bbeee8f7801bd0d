import { expect, it } from 'vitest';
import { startStopwatch } from './stopwatch.ts';

/** The age that a machine of which both clocks have moved by so much tells. */
function ageAfter(wallMs: number, monotonicMs: number): number {
  const clock = { wall: 1_000_000, monotonic: 0 };
  const ageMs = startStopwatch({ now: () => clock.wall, monotonic: () => clock.monotonic });
  clock.wall += wallMs;
  clock.monotonic += monotonicMs;
  return ageMs();
}

it('tells the time that has passed, by that of the two clocks which says more', () => {
  expect(ageAfter(4_000, 3_000)).toBe(4_000);
  expect(ageAfter(3_000, 4_000)).toBe(4_000);
});

// A machine slept 40 s, and its wall clock was set back by 38 s as it woke: the age was 2 s, and a call that everybody else had
// abandoned would have been sent.
it('knows no age where the clocks differ, whichever is ahead', () => {
  expect(ageAfter(40_000 - 38_000, 100)).toBe(Infinity);
  expect(ageAfter(100, 2_000)).toBe(Infinity);
  expect(ageAfter(-3_600_000, 100)).toBe(Infinity);
});
