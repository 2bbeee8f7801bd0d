/** Any answer or callback of the service is read, or reported as unreadable, and nothing throws. */
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  readBalance,
  readCreation,
  readDisputes,
  readHoldEnd,
  readPageOfPayments,
  readPageOfPayouts,
  readPayment,
  readPayments,
  readPayout,
  readPayoutCreation,
  readPayouts,
  readRefund,
} from './answers.ts';
import { readCallback, redactCallback } from './callback.ts';
import type { AnswerReader } from './classify.ts';

const token = 'service-1';
const word = fc.constantFrom(
  token,
  'approved',
  'EUR',
  '1500',
  '2030-01-01T00:00:00Z',
  '',
  '__proto__',
  '\ud800',
);
const odd = fc.oneof({ arbitrary: word, weight: 2 }, fc.double(), fc.jsonValue({ maxDepth: 2 }));
const names = [
  'token',
  'status',
  'amount',
  'currency',
  'orderNumber',
  'callbackUrl',
  'createdAt',
  'heldAmount',
];
const one = fc.dictionary(fc.constantFrom(...names, 'refundedAmount', 'available', 'hold', '__proto__'), odd);
const parts = [
  'payment',
  'payments',
  'payout',
  'refund',
  'disputes',
  'wallet',
  'token',
  'totalCount',
  'page',
];
const body = fc
  .dictionary(fc.constantFrom(...parts, 'perPage'), fc.oneof(one, fc.array(one, { maxLength: 3 }), odd))
  .map((given) => ({ success: true, ...given }));

const query = { dateFrom: '2030-01-01', dateTo: '2030-01-01', page: 1, perPage: 20 } as never;
test.each<[string, AnswerReader<unknown>]>([
  ['a creation', readCreation],
  ['a payment', readPayment(token)],
  ['a capture or void', readHoldEnd(token)],
  ['a refund', readRefund(token)],
  ['a payout that was made', readPayoutCreation('order-1')],
  ['a payout', readPayout(token)],
  ['payments of a number', readPayments('order-1')],
  ['payouts of a number', readPayouts('order-1')],
  ['a page of payments', readPageOfPayments(query)],
  ['a page of payouts', readPageOfPayouts(query)],
  ['a balance', readBalance('EUR')],
  ['disputes', readDisputes],
])('the answer about %s is read or rejected', (_, read) => {
  fc.assert(
    fc.property(fc.oneof(body, fc.jsonValue()), (given) => {
      const reading = read(given);
      expect('answer' in reading || reading.fault !== '').toBe(true);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a callback is read, and its stored part is bounded', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names, 'type', 'recurringToken'), odd), (given) => {
      const raw = new TextEncoder().encode(JSON.stringify(given));
      expect(redactCallback(raw, given).body.length).toBeLessThan(6 * 6 * 300);
      expect(['payment', 'payout', 'refund', 'dispute', 'unknown']).toContain(readCallback(given).about);
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
