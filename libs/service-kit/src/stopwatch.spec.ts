import { expect, it } from 'vitest';
import { startStopwatch } from './stopwatch.ts';

/** The age reported after both clocks have moved by these amounts. */
function ageAfter(wallMs: number, monotonicMs: number): number {
  const clock = { wall: 1_000_000, monotonic: 0 };
  const ageMs = startStopwatch({ now: () => clock.wall, monotonic: () => clock.monotonic });
  clock.wall += wallMs;
  clock.monotonic += monotonicMs;
  return ageMs();
}

it('returns the larger of the times measured by the two clocks', () => {
  expect(ageAfter(4_000, 3_000)).toBe(4_000);
  expect(ageAfter(3_000, 4_000)).toBe(4_000);
});

// A machine slept for 40 s, and its wall clock was set back by 38 s on waking: the age was 2 s, and a call that every other
// process had abandoned would have been sent.
it('returns Infinity if the clocks differ, whichever is ahead', () => {
  expect(ageAfter(40_000 - 38_000, 100)).toBe(Infinity);
  expect(ageAfter(100, 2_000)).toBe(Infinity);
  expect(ageAfter(-3_600_000, 100)).toBe(Infinity);
});
