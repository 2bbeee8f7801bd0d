import { expect, it } from 'vitest';
import { createSetbackWatch } from './setback-watch.ts';

it('tells once that the clock was set back, and not of what clocks do all the time', () => {
  const at = { now: 1_000_000_000, monotonic: 0 };
  const wasSetBack = createSetbackWatch({ now: () => at.now, monotonic: () => at.monotonic });
  const after = (wallMs: number, monotonicMs: number) => {
    at.now += wallMs;
    at.monotonic += monotonicMs;
    return wasSetBack();
  };
  expect(after(0, 0)).toBe(false);
  expect(after(5_000, 5_000)).toBe(false);
  // Set ahead, or asleep.
  expect(after(3_600_000, 1_000)).toBe(false);
  expect(after(-59_000, 1_000)).toBe(false);
  expect(after(-60_001, 0)).toBe(true);
  expect(after(1_000, 1_000)).toBe(false);
  // While it went on for ten minutes it was set back by two.
  expect(after(480_000, 600_000)).toBe(true);
});
