import { expect, it } from 'vitest';
import { type PermitEnd, breakerEndOf } from './account.ts';

it.each<[PermitEnd, ReturnType<typeof breakerEndOf>]>([
  ['accepted', 'succeeded'],
  ['refused', 'succeeded'],
  ['not-sent', 'failed'],
  ['unknown', 'failed'],
  ['unused', 'unused'],
])('a call that ends as %s has %s for the circuit breaker', (end, expected) => {
  expect(breakerEndOf(end)).toBe(expected);
});
