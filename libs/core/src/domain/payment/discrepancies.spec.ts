/**
 * Disagreements between our record of a payment and the provider's: what is recorded, what is reserved, and the resolutions.
 */
import { scenario } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import {
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  requested,
  sampleEvents,
} from '../testing/samples.ts';
import { acceptedRefund, after, answerToRefund, missing, resolve } from '../testing/payment-story.ts';
import type { DiscrepancyKind } from '../discrepancy.ts';
import type { Resolution } from '../review.ts';
import { mayBePaid } from './creation.ts';
import { reservedByDiscrepancies } from './observation.ts';
import type { ObservedPayment, PaymentInput } from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import type { PaymentPhase } from './payment-machine.ts';
import { resolutionsOf } from './resolutions.ts';

const { given } = scenario(paymentDomain);

/** Half an hour after the last change: the answer is not stale. */
const late = { inquiredAt: 30 * 60_000 };
const shows = (status: string, changes: Partial<ObservedPayment> = {}) =>
  inquired(observed(status, changes), late);
const answer = (resolution: Resolution, more: Parameters<typeof resolve>[2] = {}) =>
  resolve('discrepancy', resolution, more);
const typesOf = (events: readonly PaymentEvent[]) => events.map(({ type }) => type);

const acceptable = ['accept_theirs', 'keep_ours', 'check_again'];
const notAcceptable = ['keep_ours', 'check_again'];

/** For a payment of 1,000: phase, provider's record, kind, reserved amount, and resolutions. */
const cases: [PaymentPhase, PaymentInput, DiscrepancyKind, number, string[]][] = [
  ['approved', shows('on_the_moon'), 'unknown_status', 1000, notAcceptable],
  ['approved', shows('approved', { amount: 900 }), 'terms_disagree', 100, acceptable],
  ['approved', shows('approved', { amount: 1100 }), 'terms_disagree', 0, acceptable],
  ['approved', shows('approved', { currency: 'USD' }), 'terms_disagree', 1000, notAcceptable],
  ['approved', shows('approved', { orderNumber: 'other' }), 'terms_disagree', 0, notAcceptable],
  ['approved', shows('approved', { amount: -5 }), 'terms_disagree', 1000, notAcceptable],
  ['approved', shows('approved', { amount: 1e300 }), 'terms_disagree', 0, notAcceptable],
  ['approved', shows('declined'), 'final_status_revised', 1000, acceptable],
  ['approved', shows('expired'), 'final_status_revised', 1000, acceptable],
  ['approved', shows('pending'), 'final_status_revised', 1000, notAcceptable],
  ['approved', shows('init'), 'final_status_revised', 1000, notAcceptable],
  ['approved', shows('refunded', { refundedAmount: undefined }), 'refund_disagrees', 1000, acceptable],
  ['approved', missing, 'only_here', 1000, acceptable],
  ['refunded', shows('approved', { refundedAmount: 400 }), 'refund_disagrees', 0, acceptable],
  ['declined', shows('approved', { amount: 1100 }), 'final_status_revised', 0, acceptable],
  ['expired', shows('approved', { amount: 900 }), 'final_status_revised', 0, acceptable],
  ['expired', shows('pending'), 'final_status_revised', 0, notAcceptable],
  ['expired', shows('init', { authorizedAmount: 1 }), 'final_status_revised', 0, notAcceptable],
  ['refunded', shows('approved', { refundedAmount: undefined }), 'refund_disagrees', 0, acceptable],
  ['failed', shows('approved', { amount: 900 }), 'final_status_revised', 0, acceptable],
  ['failed', shows('pending'), 'final_status_revised', 0, notAcceptable],
  ['init', shows('init', { amount: 900 }), 'terms_disagree', 0, acceptable],
  ['pending', missing, 'only_here', 0, acceptable],
];

describe('a discrepancy of a payment', () => {
  it.each(cases)(
    'that is %s, shown by %j, is %s and reserves %i',
    (phase, input, kind, reserved, allowed) => {
      const payment = paymentAfter(after(historyTo[phase], input));
      expect(payment.phase).toBe(phase);
      expect(payment.discrepancies).toMatchObject([{ kind, state: 'open', serviceToken: 'token-a' }]);
      expect(payment.reviews).toMatchObject([{ code: 'discrepancy', evidence: { kind } }]);
      expect(reservedByDiscrepancies(payment)).toBe(reserved);
      expect(resolutionsOf(payment, payment.reviews[0]!)).toEqual(allowed);
    },
  );

  it('is recorded once, replaced by another snapshot, and ends when both agree', () => {
    const history = after(historyTo.approved, shows('declined'));
    given(history).when(shows('declined')).thenNothing();
    given(after(historyTo.approved, missing)).when(missing).thenNothing();
    expect(typesOf(decided(history, shows('expired')))).toEqual(['ReviewResolved', 'ReviewOpened']);
    expect(typesOf(decided(history, shows('approved')))).toEqual(['ReviewResolved']);
  });

  it.each([
    ['a stale read', inquired(observed('pending'))],
    ['a page that waits for its customer', shows('init')],
  ])('is not %s of an expired payment', (_what, input) => {
    given(historyTo.expired).when(input).thenNothing();
  });

  it('is not the page of a failed payment, which no customer received', () => {
    given(historyTo.failed).when(shows('init')).thenNothing();
  });

  it.each([
    ['an open charge that failed here', [requested({ kind: 'card' }), ...historyTo.failed.slice(1)]],
    [
      'an open payment that a person declared not made',
      after(historyTo.init, missing, answer('accept_theirs')),
    ],
  ])('is %s', (_what, history) => {
    const { discrepancies } = paymentAfter(after(history, shows('init')));
    expect(discrepancies).toMatchObject([{ kind: 'final_status_revised' }]);
  });

  it('about a refunded sum stays while the provider shows no sum', () => {
    const refunded: PaymentEvent = { type: 'ExternalRefundObserved', data: { amount: 400 } };
    const less = after([...historyTo.approved, refunded], shows('approved', { refundedAmount: 100 }));
    expect(paymentAfter(less).discrepancies).toMatchObject([{ kind: 'refund_disagrees' }]);
    given(less)
      .when(shows('approved', { refundedAmount: undefined }))
      .thenNothing();
    given(less)
      .when(shows('refunded', { refundedAmount: undefined }))
      .thenNothing();
    const declined = after([...historyTo.approved, refunded], shows('declined'));
    expect(typesOf(decided(declined, shows('approved', { refundedAmount: undefined })))).toEqual([
      'ReviewResolved',
    ]);
  });

  it('may have been paid while the provider shows a status that takes money', () => {
    const history = after(historyTo.declined, shows('pending'));
    expect(mayBePaid(paymentAfter(history))).toBe(true);
    expect(mayBePaid(paymentAfter(after(history, answer('keep_ours'))))).toBe(false);
  });
});

// A reviewer answered that a charge with a lost answer was not made, and the team was not notified of its later approval.
describe('a payment that failed', () => {
  it.each([
    ['expired', shows('approved'), { phase: 'approved', approvedAmount: 1000 }],
    ['expired', shows('declined'), { phase: 'declined', approvedAmount: 0 }],
    ['declined', shows('approved', { refundedAmount: 100 }), { phase: 'approved', refundedAmount: 100 }],
    ['declined', shows('refunded', { refundedAmount: undefined }), { phase: 'refunded' }],
    ['voided', shows('approved'), { phase: 'approved' }],
    ['failed', shows('approved'), { phase: 'approved', serviceToken: 'token-a' }],
  ] as const)('as %s follows a provider that shows %j', (phase, input, becomes) => {
    for (const before of [historyTo[phase], after(historyTo[phase], shows('pending'))]) {
      const payment = paymentAfter(after(before, input));
      expect(payment).toMatchObject({ ...becomes, discrepancies: [], reviews: [] });
    }
  });
});

describe('theirs, accepted,', () => {
  it.each([
    ['approved', shows('declined'), { phase: 'declined', approvedAmount: 0 }],
    ['approved', shows('approved', { amount: 900 }), { phase: 'approved', approvedAmount: 900 }],
    [
      'approved',
      shows('refunded', { refundedAmount: undefined }),
      { phase: 'refunded', refundedAmount: 1000 },
    ],
    ['approved', missing, { phase: 'declined', declineReason: 'resolved_by_a_person' }],
    ['refunded', shows('approved', { refundedAmount: 400 }), { phase: 'approved', refundedAmount: 400 }],
    ['declined', shows('approved', { amount: 900 }), { phase: 'approved', approvedAmount: 900 }],
    ['failed', shows('approved', { amount: 900 }), { phase: 'approved', serviceToken: 'token-a' }],
    ['init', shows('init', { amount: 900 }), { phase: 'init', terms: { amount: 900 } }],
    ['pending', missing, { phase: 'declined' }],
  ] as const)('sets a payment that is %s to what %j shows', (phase, input, becomes) => {
    const history = after(historyTo[phase], input, answer('accept_theirs'));
    expect(paymentAfter(history)).toMatchObject({ ...becomes, discrepancies: [], reviews: [] });
    expect(decided(history, input).filter(({ type }) => type === 'ReviewOpened')).toEqual([]);
  });

  it('changes the requested amount only if the terms disagreed, and only by its own record', () => {
    const revised = after(historyTo.declined, shows('approved', { amount: 900 }), answer('accept_theirs'));
    expect(paymentAfter(revised).terms.amount).toBe(1000);
    const duplicate = shows('approved', { serviceToken: 'token-b', amount: 500 });
    const second = after(
      historyTo.approved,
      duplicate,
      shows('approved', { amount: 900 }),
      answer('accept_theirs', { number: 2 }),
    );
    expect(paymentAfter(second)).toMatchObject({ approvedAmount: 900, discrepancies: [{ number: 1 }] });
  });
});

// A team's own key freed reserved money by an answer that changes nothing, and the team paid it out.
describe('our record, kept,', () => {
  const history = after(historyTo.approved, shows('declined'));

  it('frees nothing while the provider shows the same, and reopens if it shows something else', () => {
    const kept = after(history, answer('keep_ours'));
    expect(reservedByDiscrepancies(paymentAfter(kept))).toBe(1000);
    given(kept).when(shows('declined')).thenNothing();
    expect(paymentAfter(after(kept, shows('expired'))).discrepancies).toMatchObject([{ state: 'open' }]);
    expect(reservedByDiscrepancies(paymentAfter(after(kept, shows('approved'))))).toBe(0);
  });

  it('by an operator frees the reserved amount', () => {
    const released = after(history, answer('keep_ours', { releases: true }));
    expect(paymentAfter(released).discrepancies).toMatchObject([{ state: 'released' }]);
    expect(reservedByDiscrepancies(paymentAfter(released))).toBe(0);
  });

  it('cannot free it by checking again: the record stays, under a new number', () => {
    const again = paymentAfter(after(history, answer('check_again')));
    expect(again.discrepancies).toMatchObject([{ state: 'open', number: 2 }]);
    expect(reservedByDiscrepancies(again)).toBe(1000);
  });
});

describe('a duplicate', () => {
  const shown = (token: string, status: string, changes: Partial<ObservedPayment> = {}) =>
    shows(status, { serviceToken: token, ...changes });

  it.each(['approved', 'pending', 'on_the_moon', 'refunded'])('that is %s is a discrepancy', (status) => {
    const payment = paymentAfter(after(historyTo.approved, shown('token-b', status)));
    expect(payment.discrepancies).toMatchObject([{ kind: 'second_payment_found', serviceToken: 'token-b' }]);
    expect(reservedByDiscrepancies(payment)).toBe(0);
    expect(resolutionsOf(payment, payment.reviews[0]!)).toEqual(notAcceptable);
  });

  it.each(['init', 'declined', 'expired'])('that is %s took no money, and is no discrepancy', (status) => {
    given(historyTo.approved).when(shown('token-b', status)).thenNothing();
    const history = after(historyTo.approved, shown('token-b', 'approved'));
    const ended = typesOf(decided(history, shown('token-b', status)));
    expect(ended).toEqual(['ReviewResolved']);
  });

  it('is recorded ten times at most, with the largest amounts', () => {
    const tokens = Array.from({ length: 11 }, (_, at) => at);
    const all = tokens.map((at) => shown(`token-${at}`, 'approved', { amount: 100 + at }));
    const { discrepancies } = paymentAfter(after(historyTo.approved, ...all));
    expect(discrepancies.map(({ theirs }) => theirs?.amount)).toEqual(tokens.slice(1).map((at) => 100 + at));
  });

  it('beyond ten is ignored unless it is larger than the smallest, and never replaces another kind', () => {
    const amounts = [300, 200, 400, 500, 600, 700, 800, 900, 1000, 1100];
    const ten = amounts.map((amount) => shown(`token-${amount}`, 'approved', { amount }));
    const history = after(historyTo.approved, shows('approved', { amount: 1 }), ...ten);
    given(history)
      .when(shown('token-z', 'approved', { amount: 200 }))
      .thenNothing();
    const { discrepancies } = paymentAfter(after(history, shown('token-z', 'approved', { amount: 201 })));
    expect(discrepancies.map(({ theirs }) => theirs?.amount)).toEqual([
      1,
      ...amounts.filter((amount) => amount !== 200),
      201,
    ]);
    const own = paymentAfter(after(after(historyTo.approved, ...ten), shows('approved', { amount: 1 })));
    expect(own.discrepancies).toHaveLength(11);
  });
});

// A reviewer answered that a refund was not made, its answer arrived after all, and the team was asked to repeat it.
describe('a refund that failed here', () => {
  const submitted = [...historyTo.approved, sampleEvents.RefundSubmitted];
  const refundToken = sampleEvents.RefundSubmitted.data.refundToken;
  const amount = sampleEvents.RefundSubmitted.data.amount;
  const notMade: PaymentEvent = {
    type: 'RefundDeclined',
    data: { refundToken, errors: [], reason: 'resolved' },
  };
  const made = answerToRefund(refundToken, acceptedRefund({ amount }));

  it('reserves its amount if its answer arrives after all, until the sum shows it', () => {
    const history = after([...submitted, notMade], made);
    const payment = paymentAfter(history);
    expect(payment.discrepancies).toMatchObject([{ kind: 'refund_disagrees', refundToken }]);
    expect(resolutionsOf(payment, payment.reviews[0]!)).toEqual(['keep_ours']);
    expect(reservedByDiscrepancies(payment)).toBe(amount);
    const grown = paymentAfter(after(history, shows('approved', { refundedAmount: amount })));
    expect(grown.refundedAmount).toBe(amount);
    expect(reservedByDiscrepancies(grown)).toBe(0);
  });

  it('reserves its amount in addition to what the payment itself reserves', () => {
    const payment = paymentAfter(after([...submitted, notMade], made, shows('approved', { amount: 900 })));
    expect(payment.discrepancies).toHaveLength(2);
    expect(reservedByDiscrepancies(payment)).toBe(amount + 100);
  });
});
