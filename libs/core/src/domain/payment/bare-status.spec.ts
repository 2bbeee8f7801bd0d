// Every peer in the tests showed amounts; the specification shows none. An answer without one could not be read, so a paid
// payment stayed open here.
import { expect, it, test } from 'vitest';
import { decided, historyTo, inquired, observed, paymentAfter, types } from '../testing/samples.ts';
import { withTermsOf } from './observation.ts';

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

test('an approved payment has the requested amount', () => {
  expect(observe('init', 'approved')).toEqual([{ type: 'PaymentApproved', data: { amount: 1000 } }]);
  expect(observe('approved', 'approved')).toEqual([]);
});

test('the status refunded alone opens a review, and records no refund', () => {
  const events = observe('approved', 'refunded');
  expect(types(events)).toEqual(['ReviewOpened']);
});

test('an amount or a currency is compared if shown', () => {
  const payment = paymentAfter(historyTo['init']);
  for (const shown of [{ amount: 999 }, { currency: 'USD' }])
    expect(
      types(decided(historyTo['init'], inquired(withTermsOf(payment, { ...bare('approved'), ...shown })))),
    ).toEqual(['ReviewOpened']);
});
