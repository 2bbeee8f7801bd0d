import { expect, it } from 'vitest';
import { nextTryAfter, retryPausesMs } from './retry-schedule.ts';

it('has ten attempts: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h', () => {
  const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
  expect(retryPausesMs).toEqual(seconds.map((each) => each * 1_000));
  const pauses = Array.from({ length: 10 }, (_, index) => nextTryAfter(index + 1, 0, 0));
  expect(pauses).toEqual([...retryPausesMs, undefined]);
});

it('is never early, and late by at most a tenth of the pause', () => {
  expect(nextTryAfter(1, 1_000, 0)).toBe(6_000);
  expect(nextTryAfter(1, 1_000, 0.999999)).toBe(6_500);
});
