/** Refunds that failed here and may have taken effect at the provider, and inquiries that show no effect. */
import { describe, expect, it } from 'vitest';
import { decided, historyTo, inquired, observed, paymentAfter, refundSubmitted } from '../testing/samples.ts';
import {
  acceptedRefund,
  after,
  answerToRefund,
  missing,
  externalRefund,
  resolve,
  submitRefund,
} from '../testing/payment-story.ts';
import type { ObservedPayment } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import type { PaymentEvent, PaymentEventOf } from './payment-events.ts';
import { doubtsAbout, mayBeMade, mayHaveBeenMade, showsNoFurtherRefund } from './refunds.ts';

type Reason = PaymentEventOf<'RefundDeclined'>['data']['reason'];
const declined = (refundToken: string, reason: Reason): PaymentEvent => ({
  type: 'RefundDeclined',
  data: { refundToken, reason, errors: [] },
});
/** A payment of 1,000 with these refunds, which all failed. */
const failed = (...refunds: [token: string, amount: number, reason: Reason][]): PaymentEvent[] => [
  ...historyTo.approved,
  ...refunds.flatMap(([token, amount, reason]) => [refundSubmitted(token, amount), declined(token, reason)]),
];
const refunded = (refundedAmount: number) =>
  inquired(observed('approved', { refundedAmount }), { inquiredAt: 1 });
const keepOurs = resolve('discrepancy', 'keep_ours');
/** Of each refund: in doubt, and whether a person keeps our record. */
function doubtsIn(history: readonly PaymentEvent[]) {
  const payment = paymentAfter(history);
  return payment.refunds.map((refund) => [
    doubtsAbout(payment, refund).length,
    mayBeMade(payment, refund),
    mayHaveBeenMade(payment, refund),
  ]);
}
const none = [0, false, false];
const open = [1, true, false];
const kept = [1, false, true];

describe('a refund that failed here', () => {
  const shows = (status: string, changes: Partial<ObservedPayment>) =>
    inquired(observed(status, changes), { inquiredAt: 1 });

  it.each<[string, PaymentEvent[], (typeof none)[]]>([
    ['a sum of its amount', after(failed(['a', 300, 'refused']), refunded(300)), [open]],
    [
      'a sum of its amount, kept by a person',
      after(failed(['a', 300, 'refused']), refunded(300), keepOurs),
      [kept],
    ],
    ['another sum', after(failed(['a', 300, 'refused']), refunded(200)), [none]],
    [
      'a sum of its amount although it was never sent',
      after(failed(['a', 300, 'not-sent']), refunded(300)),
      [none],
    ],
    [
      'a larger sum after a person answered that it was not made',
      after(failed(['a', 300, 'resolved']), refunded(400)),
      [open],
    ],
    ['a smaller sum after that answer', after(failed(['a', 300, 'resolved']), refunded(200)), [none]],
    [
      'the amount of two refunds: any of them may be it',
      after(failed(['a', 300, 'declined'], ['b', 300, 'refused'], ['c', 100, 'refused']), refunded(300)),
      [open, open, none],
    ],
    [
      'the amount of another one that was never sent',
      after(failed(['a', 300, 'not-sent'], ['b', 300, 'refused']), refunded(300)),
      [none, open],
    ],
    [
      'a sum of its amount in a record of other terms, after that answer',
      after(failed(['a', 300, 'resolved']), shows('approved', { amount: 900, refundedAmount: 300 })),
      [open],
    ],
    [
      'such a sum that is smaller, or of a refund that the provider refused',
      after(
        failed(['a', 300, 'resolved'], ['b', 200, 'refused']),
        shows('approved', { amount: 900, refundedAmount: 299 }),
      ),
      [none, none],
    ],
    [
      'such a sum that a refund elsewhere explains',
      after(
        [...failed(['a', 300, 'resolved']), externalRefund(200)],
        shows('approved', { amount: 900, refundedAmount: 400 }),
      ),
      [none],
    ],
    [
      'a bare "refunded", after that answer',
      after(failed(['a', 300, 'resolved']), shows('refunded', { refundedAmount: undefined })),
      [open],
    ],
    [
      'no sum in a record of other terms',
      after(failed(['a', 300, 'resolved']), shows('approved', { amount: 900, refundedAmount: undefined })),
      [none],
    ],
    [
      'the sum of a duplicate',
      after(
        failed(['a', 300, 'resolved']),
        shows('approved', { serviceToken: 'token-z', refundedAmount: 300 }),
      ),
      [none],
    ],
    ['a provider that has no such payment', after(failed(['a', 300, 'resolved']), missing), [none]],
  ])('is in doubt by the sum at the provider: %s', (_, history, expected) => {
    expect(doubtsIn(history)).toEqual(expected);
  });

  it('is in doubt by its accepted answer, which came late', () => {
    const late = answerToRefund('a', acceptedRefund());
    const history = after(failed(['a', 300, 'resolved']), late);
    expect(doubtsIn(history)).toEqual([open]);
    const [{ theirs, ours, kind, operation, serviceToken } = {} as never] =
      paymentAfter(history).discrepancies;
    expect([theirs?.refundedAmount, ours?.refundedAmount, kind, operation, serviceToken]).toEqual([
      300,
      0,
      'refund_disagrees',
      'payment',
      'token-a',
    ]);
    const declinedLate = answerToRefund('a', acceptedRefund({ status: 'declined' }));
    expect(decided(failed(['a', 300, 'resolved']), declinedLate)).toEqual([]);
    expect(decided(failed(['a', 300, 'refused']), late)).toEqual([]);
    const another = answerToRefund('b', acceptedRefund({ amount: 200 }));
    const two = after(failed(['a', 300, 'resolved'], ['b', 200, 'resolved']), late, another);
    expect(paymentAfter(two).discrepancies.map((each) => each.theirs?.refundedAmount)).toEqual([300, 500]);
  });

  it('does not prove the effect of a later one', () => {
    const sumUnknownAfter = (history: readonly PaymentEvent[]) => {
      const decision = decide(paymentAfter(history), submitRefund('b', 100));
      return decision.kind === 'events'
        ? decision.events.map(({ data }) => Object(data).sumUnknown as unknown)
        : decision;
    };
    expect(sumUnknownAfter(historyTo.approved)).toEqual([undefined]);
    expect(sumUnknownAfter(after(failed(['a', 300, 'refused']), refunded(300)))).toEqual([undefined]);
    const smaller = inquired(observed('approved', { refundedAmount: 100 }), { inquiredAt: 3_600_000 });
    const disagreeing = after([...historyTo.approved, externalRefund(200)], smaller);
    expect(sumUnknownAfter(disagreeing)).toEqual([true]);
  });
});

it.each([
  [300, observed('approved', { refundedAmount: 0 }), true],
  [300, observed('approved', { refundedAmount: 300 }), false],
  [300, observed('approved', { refundedAmount: undefined }), false],
  [1000, observed('approved', { refundedAmount: undefined }), true],
  [1000, observed('refunded', { refundedAmount: undefined }), false],
  [1000, observed('refunded', { refundedAmount: 1000 }), false],
  [300, observed('approved', { refundedAmount: 0, amount: 900 }), false],
  [300, observed('on_the_moon', { refundedAmount: 0 }), false],
  [300, observed('declined', { refundedAmount: 0 }), false],
])('after a refund of %i, %j shows no further refund: %s', (amount, shown, expected) => {
  const payment = paymentAfter([...historyTo.approved, refundSubmitted('a', amount)]);
  expect(showsNoFurtherRefund(payment, shown)).toBe(expected);
});
