/**
 * The specification shows no refunded sum. The word `refunded` without one was read as the whole amount: a refund of 30
 * became 100, and the rest could not be refunded. An absent sum is neither 0 nor everything.
 */
import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  announcedCall,
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  refundSubmitted,
} from '../../testing/samples.ts';
import type { PaymentEvent } from './payment-events.ts';
import { mayBeMade, showsNoFurtherRefund } from './refunds.ts';
import { resolutionsOf } from './resolutions.ts';

const { given } = scenario(paymentDomain);
const { answerBy, quietUntil } = announcedCall;
const { approved } = historyTo;

const picture = (status: string, refundedAmount?: number) => observed(status, { refundedAmount });
const shows = (status: string, inquiredAt: number, refundedAmount?: number) =>
  inquired(picture(status, refundedAmount), { inquiredAt });
const refundOf = (amount: number, ...more: PaymentEvent[]): PaymentEvent[] => [
  ...approved,
  refundSubmitted('refund-1', amount),
  ...more,
];
const approvedEvent: PaymentEvent = { type: 'RefundApproved', data: { refundToken: 'refund-1' } };
const ofUnknownSum: PaymentEvent = {
  type: 'RefundSubmitted',
  data: { ...refundSubmitted('refund-1', 1000).data, sumUnknown: true },
};
const unresolved: PaymentEvent = {
  type: 'RefundUnresolved',
  data: { refundToken: 'refund-1', reason: 'timeout' },
};
const notMade: PaymentEvent = {
  type: 'RefundDeclined',
  data: { refundToken: 'refund-1', errors: [], reason: 'resolved' },
};
const external = (amount: number): PaymentEvent => ({ type: 'ExternalRefundObserved', data: { amount } });
const inReview = (refundedAmount = 0): PaymentEvent => ({
  type: 'ReviewOpened',
  data: {
    code: 'refund_disagrees',
    evidence: { refundedAmount, observedStatus: 'refunded', observedRefundedAmount: null },
  },
});
const resolved = (resolution: string, number = 1): PaymentEvent => ({
  type: 'ReviewResolved',
  data: { code: 'refund_disagrees', number, resolution, reason: expect.any(String) },
});

describe('without a refund under way, the word `refunded` without a sum', () => {
  // Some deployments show 0 where they show no sum.
  test.each([undefined, 0])('is a question for a person where nothing had gone back (%s)', (sum) => {
    given(approved)
      .when(shows('refunded', 0, sum))
      .then([inReview()]);
    given([...approved, inReview()])
      .when(shows('refunded', 0, sum))
      .thenNothing();
  });

  test('is explained by what had gone back', () => {
    given(refundOf(300, approvedEvent)).when(shows('refunded', 0)).thenNothing();
    given([...approved, external(1000)])
      .when(shows('refunded', 0))
      .thenNothing();
  });

  test('is settled by a sum that is shown later', () => {
    given([...approved, inReview()])
      .when(shows('refunded', 0, 400))
      .then([external(400), resolved('found')]);
  });

  test('may be a refund that a person called not made, which must not be made again', () => {
    const events = [...refundOf(300, unresolved, notMade), inReview()];
    const payment = paymentAfter(events);
    expect(mayBeMade(payment, payment.refunds[0]!)).toBe(true);
  });

  test('was everything if a person says so', () => {
    const payment = paymentAfter([...approved, inReview()]);
    expect(resolutionsOf(payment, payment.reviews[0]!)).toEqual([
      'inquire_again',
      'acknowledged',
      'observed_terms_apply',
    ]);
    given([...approved, inReview()])
      .when({
        type: 'ResolveReview',
        code: 'refund_disagrees',
        number: 1,
        resolution: 'observed_terms_apply',
        reason: 'I asked them',
      })
      .then([resolved('observed_terms_apply'), external(1000)]);
  });

  test('is no such question while a refund is under way', () => {
    const payment = paymentAfter([...approved, inReview(), refundSubmitted('refund-1', 300)]);
    expect(resolutionsOf(payment, payment.reviews[0]!)).not.toContain('observed_terms_apply');
  });
});

describe('with a refund under way, the word `refunded` without a sum', () => {
  test('proves one of everything, before which nothing had gone back', () => {
    given(refundOf(1000, unresolved)).when(shows('refunded', answerBy)).then([approvedEvent]);
  });

  test.each([
    ['of a part', refundOf(300, unresolved)],
    ['of the rest', [...approved, external(700), refundSubmitted('refund-1', 300), unresolved]],
    ['while the word was in doubt', [...approved, inReview(), ofUnknownSum, unresolved]],
  ])('proves nothing of one %s: a person decides after the quiet period', (_, history) => {
    expect(decided(history, shows('refunded', quietUntil - 1))).toEqual([]);
    const events = decided(history, shows('refunded', quietUntil));
    expect(events).toMatchObject([
      {
        type: 'ReviewOpened',
        data: {
          code: 'refund_unresolved',
          evidence: { refundToken: 'refund-1', observedStatus: 'refunded' },
        },
      },
    ]);
  });

  test('a refund while the word is in doubt says that the sum before it is unknown', () => {
    const events = decided([...approved, inReview()], {
      ...{ type: 'SubmitRefund', refundToken: 'refund-1', amount: 1000 },
      ...{ fingerprint: 'f', earlierFingerprints: [], window: announcedCall },
    });
    expect(events).toMatchObject([{ type: 'RefundSubmitted', data: { sumUnknown: true } }]);
  });
});

test('an absent sum takes no refund back; the word `approved` takes back one of everything', () => {
  const late = quietUntil + 24 * 60 * 60_000;
  given(refundOf(300, approvedEvent)).when(shows('approved', late)).thenNothing();
  const all = refundOf(1000, approvedEvent);
  const taken: PaymentEvent = {
    type: 'ReviewOpened',
    data: { code: 'refund_disagrees', evidence: { refundedAmount: 1000, observedRefundedAmount: null } },
  };
  given(all).when(shows('approved', late)).then([taken]);
  given([...all, taken])
    .when(shows('refunded', late))
    .then([resolved('found')]);
});

test.each([
  ['the sum of our books', 300, picture('approved', 0), true],
  ['a sum that has grown', 300, picture('approved', 300), false],
  ['no sum, of a refund of a part', 300, picture('approved'), false],
  ['no sum and `approved`, of a refund of everything', 1000, picture('approved'), true],
  ['the word alone', 1000, picture('refunded'), false],
  ['another amount', 300, observed('approved', { amount: 900 }), false],
  ['that it was never approved', 300, picture('declined'), false],
])('a refused refund is confirmed by %s: %s, %j, %s', (_, amount, shown, isConfirmed) => {
  expect(showsNoFurtherRefund(paymentAfter(refundOf(amount)), shown)).toBe(isConfirmed);
});
