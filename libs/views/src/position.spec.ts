import {
  evolve,
  evolvePayout,
  type Payment,
  type PaymentEvent,
  type Payout,
  type PayoutEvent,
  type ReviewCode,
} from '@tollgate/payment-domain';
import { describe, expect, test } from 'vitest';
import { positionOfPayment, positionOfPayout } from './position.ts';
import { happening, payoutHappening, payoutRequested, requested } from './testing/index.ts';

const { accepted, approved, refused, failed } = payoutHappening;

/** Of 300. */
const payoutAfter = (...events: PayoutEvent[]): Payout =>
  events.reduce((state, event) => evolvePayout(state, event), evolvePayout(undefined, payoutRequested()));
const secondOf = (evidence: Record<string, string | number>): PayoutEvent => ({
  type: 'ReviewOpened',
  data: { code: 'second_payout_found', evidence: { serviceToken: 'token-b', ...evidence } },
});

describe('a second payout', () => {
  test.each([
    ['is held beside the first', [accepted, approved], { available: -700n, hold: 400n }],
    ['is held beside one that is open', [accepted], { available: -700n, hold: 700n }],
    ['is held beside one that has failed', [refused, failed], { available: -400n, hold: 400n }],
  ])('%s', (_, events, sums) => {
    const second = secondOf({ observedStatus: 'pending', observedAmount: 400 });
    expect(positionOfPayout(payoutAfter(...events, second))).toMatchObject(sums);
  });

  test('is held each', () => {
    const seconds = ['token-b', 'token-c'].map((serviceToken) =>
      secondOf({ serviceToken, observedStatus: 'approved', observedAmount: 300 }),
    );
    const payout = payoutAfter(accepted, approved, ...seconds);
    expect(positionOfPayout(payout)).toMatchObject({ available: -900n, hold: 600n });
  });

  // Of one that had failed and one beside it, the one that was taken for ours hid what was in doubt about the other.
  test('is held where it was in doubt while it was taken for the first, and once where it is in two reviews', () => {
    const doubt = (observedServiceToken: string): PayoutEvent => ({
      type: 'ReviewOpened',
      data: { code: 'unknown_status', evidence: { observedServiceToken, observedAmount: 400 } },
    });
    const held = (...events: PayoutEvent[]) => positionOfPayout(payoutAfter(...events));
    expect(held(accepted, approved, doubt('token-b'))).toMatchObject({ available: -700n, hold: 400n });
    const second = secondOf({ observedStatus: 'pending', observedAmount: 300 });
    expect(held(accepted, second, doubt('token-b'))).toMatchObject({ available: -700n, hold: 700n });
    expect(held(refused, failed, doubt('token-b'), doubt('token-c'))).toMatchObject({
      ...{ available: -800n, hold: 800n },
    });
  });

  test.each([{}, ...[-1, 0.5, 2 ** 60].map((observedAmount) => ({ observedAmount }))])(
    'is of as much as the first where nothing likely is known: %j',
    (evidence) =>
      expect(positionOfPayout(payoutAfter(accepted, approved, secondOf(evidence)))).toMatchObject({
        ...{ available: -600n, hold: 300n },
      }),
  );

  test('that the service declined is not held, nor one that somebody has answered', () => {
    const declined = secondOf({ observedStatus: 'declined', observedAmount: 300 });
    const data = {
      code: 'second_payout_found',
      number: 1,
      resolution: 'acknowledged',
      reason: 'paid back',
    } as const;
    const answered = payoutAfter(accepted, approved, secondOf({}), { type: 'ReviewResolved', data });
    for (const payout of [payoutAfter(accepted, approved, declined), answered])
      expect(positionOfPayout(payout)).toMatchObject({ available: -300n, hold: 0n });
  });
});

// 1000 were asked for and 1500 shown: until somebody had said what holds, the team could pay out 500 that were gone.
describe('a payout that is shown with another amount', () => {
  const shown = (evidence: Record<string, string | number>): PayoutEvent => ({
    type: 'ReviewOpened',
    data: { code: 'terms_disagree', evidence },
  });
  const of500 = shown({ observedStatus: 'approved', observedAmount: 500, observedCurrency: 'EUR' });
  const answeredBy = (resolution: string): PayoutEvent => ({
    type: 'ReviewResolved',
    data: { code: 'terms_disagree', number: 1, resolution, reason: 'their list' },
  });

  const unknownStatus = (evidence: Record<string, string | number>): PayoutEvent => ({
    type: 'ReviewOpened',
    data: { code: 'unknown_status', evidence: { observedStatus: 'processing', ...evidence } },
  });

  test.each<[string, PayoutEvent[], object]>([
    [
      'holds what was asked for where a failed one has a status that nobody knows',
      [refused, failed, unknownStatus({})],
      { available: -300n, hold: 300n },
    ],
    [
      'holds what is shown with a status that nobody knows',
      [refused, failed, unknownStatus({ observedAmount: 500, observedCurrency: 'EUR' })],
      { available: -500n, hold: 500n },
    ],
    ['holds the larger one while it is open', [accepted, of500], { available: -500n, hold: 500n }],
    ['holds what more was paid out', [accepted, approved, of500], { available: -500n, hold: 200n }],
    [
      'holds what was paid out though it had failed',
      [refused, failed, of500],
      { available: -500n, hold: 500n },
    ],
    [
      'holds what was asked for where less is shown',
      [accepted, shown({ observedStatus: 'approved', observedAmount: 100 })],
      { available: -300n, hold: 300n },
    ],
    [
      'holds nothing more where it was declined',
      [accepted, approved, shown({ observedStatus: 'declined', observedAmount: 500 })],
      { available: -300n, hold: 0n },
    ],
    [
      'holds nothing more of another currency',
      [
        accepted,
        approved,
        shown({ observedStatus: 'approved', observedAmount: 500, observedCurrency: 'USD' }),
      ],
      { available: -300n, hold: 0n },
    ],
    [
      'is of it by the word of a person',
      [accepted, of500, answeredBy('observed_terms_apply'), approved],
      { available: -500n, hold: 0n },
    ],
    [
      'is of what was asked for where that was acknowledged',
      [accepted, approved, of500, answeredBy('acknowledged')],
      { available: -300n, hold: 0n },
    ],
  ])('%s', (_, events, sums) => {
    expect(positionOfPayout(payoutAfter(...events))).toMatchObject(sums);
  });
});

// The provider showed less, or more of it given back, and until somebody had said what holds the team could pay out what was gone.
describe('a payment that is shown otherwise than it is on record', () => {
  /** Of 1,500. */
  const paymentAfter = (...events: PaymentEvent[]): Payment =>
    [happening.accepted, happening.approved, ...events].reduce<Payment>(
      (state, event) => evolve(state, event),
      evolve(undefined, requested()),
    );
  const shown = (code: ReviewCode, evidence: Record<string, string | number>): PaymentEvent => ({
    type: 'ReviewOpened',
    data: { code, evidence },
  });
  const acknowledged: PaymentEvent = {
    type: 'ReviewResolved',
    data: { code: 'terms_disagree', number: 1, resolution: 'acknowledged', reason: 'their list' },
  };
  const calledNotMade: PaymentEvent = {
    type: 'RefundDeclined',
    data: { refundToken: 'ref_1', errors: [], reason: 'resolved' },
  };
  const madeAfterAll = shown('refund_disagrees', {
    ...{ refundToken: 'ref_1', serviceRefundToken: 'r', observedStatus: 'pending', refundedElsewhere: 0 },
  });
  const of600 = shown('terms_disagree', { observedAmount: 600, observedRefundedAmount: 0 });

  test.each<[string, PaymentEvent[], object]>([
    ['counts as on record without a review', [], { available: 1_500n, hold: 0n }],
    ['counts as the lower amount', [of600], { available: 600n, hold: 900n }],
    [
      'counts as on record where more is shown',
      [shown('terms_disagree', { observedAmount: 9_000 })],
      { available: 1_500n, hold: 0n },
    ],
    [
      'counts without what is shown as given back',
      [shown('terms_disagree', { observedAmount: 1_400, observedRefundedAmount: 400 })],
      { available: 1_000n, hold: 500n },
    ],
    [
      'counts as nothing with a status that nobody knows',
      [shown('unknown_status', { observedStatus: 'odd', observedAmount: 1_500 })],
      { available: 0n, hold: 1_500n },
    ],
    [
      'counts as on record where an earlier release has kept no sums, or it is about a refund',
      [shown('unknown_status', { observedStatus: 'odd' })],
      { available: 1_500n, hold: 0n },
    ],
    [
      'counts as on record where a refund is of another amount',
      [shown('terms_disagree', { observedAmount: 20, serviceRefundToken: 'r' })],
      { available: 1_500n, hold: 0n },
    ],
    [
      'counts as on record where it is about a payment beside it',
      [shown('terms_disagree', { observedAmount: 600, observedServiceToken: 'other' })],
      { available: 1_500n, hold: 0n },
    ],
    ...[{ observedCurrency: 'USD' }, { observedStatus: 'declined' }].map(
      (evidence): [string, PaymentEvent[], object] => [
        `counts as nothing where it is shown otherwise: ${JSON.stringify(evidence)}`,
        [shown('terms_disagree', { observedAmount: 1_500, observedRefundedAmount: 7, ...evidence })],
        { available: 0n, hold: 1_500n },
      ],
    ),
    [
      'counts without a refund that was called not made and that the service has accepted',
      [happening.refunding, calledNotMade, madeAfterAll],
      { available: 1_000n, hold: 500n },
    ],
    [
      'counts without that refund once, where as much has gone back since',
      [
        happening.refunding,
        calledNotMade,
        madeAfterAll,
        { type: 'ExternalRefundObserved', data: { amount: 500 } },
      ],
      { available: 1_000n, hold: 0n },
    ],
    // As much as went back of one of them freed both.
    [
      'counts without two such refunds, of which one has gone back since',
      [
        ...[happening.refunding, calledNotMade],
        { ...happening.refunding, data: { ...happening.refunding.data, refundToken: 'ref_2' } },
        { ...calledNotMade, data: { ...calledNotMade.data, refundToken: 'ref_2' } },
        madeAfterAll,
        shown('refund_disagrees', { refundToken: 'ref_2', serviceRefundToken: 's', refundedElsewhere: 0 }),
        { type: 'ExternalRefundObserved', data: { amount: 500 } },
      ],
      { available: 500n, hold: 500n },
    ],
    // What had gone back before it was accepted freed the later one.
    [
      'counts without such a refund, whatever went back before it was accepted',
      [
        ...[happening.refunding, calledNotMade],
        { ...happening.refunding, data: { ...happening.refunding.data, refundToken: 'ref_2', amount: 300 } },
        { ...calledNotMade, data: { ...calledNotMade.data, refundToken: 'ref_2' } },
        madeAfterAll,
        { type: 'ExternalRefundObserved', data: { amount: 900 } },
        shown('refund_disagrees', { refundToken: 'ref_2', serviceRefundToken: 's', refundedElsewhere: 900 }),
      ],
      { available: 300n, hold: 300n },
    ],
    // It made room for itself in what was held for the other one.
    [
      'counts without that refund and one of ours that was approved since',
      [
        ...[happening.refunding, calledNotMade, madeAfterAll],
        { ...happening.refunding, data: { ...happening.refunding.data, refundToken: 'ref_2', amount: 200 } },
        { type: 'RefundApproved', data: { refundToken: 'ref_2' } },
      ],
      { available: 800n, hold: 500n },
    ],
    [
      'counts without what is shown as given back while a refund has no outcome',
      [happening.refunding, shown('refund_unresolved', { amount: 500, observedRefundedAmount: 1_500 })],
      { available: 0n, hold: 1_500n },
    ],
    ...[0, 0.5, -1].map((observedAmount): [string, PaymentEvent[], object] => [
      `counts as nothing where ${observedAmount} are shown`,
      [shown('unknown_status', { observedStatus: 'cancelled', observedAmount })],
      { available: 0n, hold: 1_500n },
    ]),
    [
      'counts as nothing of an amount that is none',
      [shown('terms_disagree', { observedAmount: -1 })],
      { available: 0n, hold: 1_500n },
    ],
    [
      'loses no more than it has by a sum that cannot be',
      [shown('terms_disagree', { observedAmount: 1_500, observedRefundedAmount: 9e15 })],
      { available: 0n, hold: 1_500n },
    ],
    [
      'counts as nothing where its approval was taken back',
      [shown('final_status_revised', { from: 'approved', to: 'pending' })],
      { available: 0n, hold: 1_500n },
    ],
    [
      'counts as on record where it is known to what it was revised',
      [shown('final_status_revised', { from: 'declined', to: 'approved' })],
      { available: 1_500n, hold: 0n },
    ],
    [
      'counts as nothing where the service does not have it any more',
      [shown('only_here', { serviceToken: 'x' })],
      { available: 0n, hold: 1_500n },
    ],
    [
      'counts without a refund that may come on top of what is shown as given back',
      [happening.refunding, shown('refund_unresolved', { amount: 500, observedRefundedAmount: 200 })],
      { available: 800n, hold: 700n },
    ],
    // What is shown may be of before it, or of somebody else.
    [
      'counts without a refund that is under way beside what is shown as given back',
      [happening.refunding, shown('terms_disagree', { observedAmount: 1_500, observedRefundedAmount: 700 })],
      { available: 300n, hold: 1_200n },
    ],
    [
      'counts without a refund that the service may still decide, whatever is shown as given back',
      [
        ...[happening.refunding, happening.refundAccepted],
        shown('refund_unresolved', { amount: 500, observedRefundedAmount: 700 }),
      ],
      { available: 300n, hold: 1_200n },
    ],
    [
      'counts without a refund that was called not made and shows beside another one',
      [happening.refunding, shown('refund_disagrees', { refundToken: 'ref_0', observedRefundedAmount: 700 })],
      { available: 300n, hold: 1_200n },
    ],
    [
      'counts without a refund that has no outcome',
      [happening.refunding, shown('refund_unresolved', { amount: 500, observedRefundedAmount: 0 })],
      { available: 1_000n, hold: 500n },
    ],
    [
      'counts as on record once that was acknowledged',
      [of600, acknowledged],
      { available: 1_500n, hold: 0n },
    ],
  ])('%s', (_, events, sums) => {
    expect(positionOfPayment(paymentAfter(...events))).toMatchObject(sums);
  });
});
