// Every peer of the tests showed amounts; the specification shows none. An answer without one could not be read, so a payment that
// was paid stayed open here.
import { expect, it, test } from 'vitest';
import { decided, historyTo, inquired, observed, paymentAfter, types } from '../testing/samples.ts';
import { withTermsOf } from './observation.ts';

/** Token and status only. */
const bare = (status: string) => {
  const { serviceToken } = observed(status);
  return { serviceToken, status };
};
const observe = (phase: 'init' | 'approved', status: string) =>
  decided(historyTo[phase], inquired(withTermsOf(paymentAfter(historyTo[phase]), bare(status))));

it.each([
  ['init', []],
  ['pending', ['PaymentPending']],
  ['approved', ['PaymentApproved']],
  ['declined', ['PaymentDeclined']],
  ['expired', ['PaymentExpired']],
])('the status %s alone gives %j', (status, events) => {
  expect(types(observe('init', status))).toEqual(events);
});

test('an approved payment has the amount that was asked for', () => {
  expect(observe('init', 'approved')).toEqual([{ type: 'PaymentApproved', data: { amount: 1000 } }]);
  expect(observe('approved', 'approved')).toEqual([]);
});

test('the word refunded alone opens a review, and books no refund', () => {
  const events = observe('approved', 'refunded');
  expect(types(events)).toEqual(['ReviewOpened']);
});

test('an amount or a currency that shows is compared', () => {
  const payment = paymentAfter(historyTo['init']);
  for (const shown of [{ amount: 999 }, { currency: 'USD' }])
    expect(
      types(decided(historyTo['init'], inquired(withTermsOf(payment, { ...bare('approved'), ...shown })))),
    ).toEqual(['ReviewOpened']);
});
