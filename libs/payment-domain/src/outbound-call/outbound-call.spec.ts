import { expect, test } from 'vitest';
import { type CallOutcome, mayHideEffect } from './outbound-call.ts';

const refused = (...codes: string[]): CallOutcome<object> => ({
  kind: 'refused',
  errors: codes.map((code) => ({ code, kind: 'invalid' })),
});

// The first delivery of a request may have taken the money that the second one did not find.
test.each([
  ['no money left for a payout', refused('balance_less_than_amount')],
  ['no money left for a refund', refused('no_money_available_on_refund')],
  ['no money left, among other errors', refused('amount_invalid', 'balance_less_than_amount')],
  ['too busy, answered by the service', { kind: 'not-sent', reason: '429', isAnswered: true }],
] as const)('%s may hide an effect', (_, outcome) => {
  expect(mayHideEffect(outcome)).toBe(true);
});

test.each([
  ['a refusal of the terms', refused('amount_invalid')],
  ['a refusal without an error', refused()],
  ['a request that never left', { kind: 'not-sent', reason: 'connection refused' }],
  ['a request that never left, of which that is said', { kind: 'not-sent', reason: '', isAnswered: false }],
  ['an acceptance', { kind: 'accepted' }],
  ['an unknown outcome', { kind: 'unknown', reason: 'timeout' }],
] as const)('%s hides none', (_, outcome) => {
  expect(mayHideEffect(outcome)).toBe(false);
});
