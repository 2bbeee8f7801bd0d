/** The provider's refunded sum, and the answers to refunds: which refund they prove, and what the review shows. */
import { describe, expect, it } from 'vitest';
import {
  announcedCall,
  apiError,
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  refundSubmitted,
} from '../testing/samples.ts';
import {
  acceptedRefund,
  after,
  answerToRefund,
  externalRefund,
  submitRefund,
} from '../testing/payment-story.ts';
import type { ObservedPayment, PaymentInput } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import type { PaymentEvent, PaymentEventOf } from './payment-events.ts';

type Reason = PaymentEventOf<'RefundDeclined'>['data']['reason'];
const { approved } = historyTo;
const failed = (refundToken: string, amount: number, reason: Reason): PaymentEvent[] => [
  refundSubmitted(refundToken, amount),
  { type: 'RefundDeclined', data: { refundToken, reason, errors: [] } },
];
/** A refund of ours, `b`, in flight. */
const inFlight = (amount: number, more: object = {}): PaymentEvent => {
  const { type, data } = refundSubmitted('b', amount);
  return { type, data: { ...data, ...more } };
};
const unconfirmed = (...codes: string[]): PaymentEvent => ({
  type: 'RefundUnresolved',
  data: {
    refundToken: 'b',
    reason: 'refused',
    errors: codes.map((code) => apiError('processing_error', code)),
  },
});
/** After the quiet period. */
const shows = (status: string, changes: Partial<ObservedPayment> = {}): PaymentInput =>
  inquired(observed(status, changes), { inquiredAt: announcedCall.quietUntil });
const withSum = (refundedAmount: number) => shows('approved', { refundedAmount });
const withoutSum = (status: string) => shows(status, { refundedAmount: undefined });
/** The latest evidence of the review of the refund in flight. */
const reviewIn = (events: readonly PaymentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'ReviewOpened' && event.data.code === 'refund_unresolved' ? [event.data.evidence] : [],
  );
const isApproved = (events: readonly PaymentEvent[]) =>
  events.some((event) => event.type === 'RefundApproved' && event.data.refundToken === 'b');

/** Of one refund of 300 of 1,000 in flight. */
const evidence = { refundToken: 'b', amount: 300, refundedAmount: 0, observedRefundedAmount: 0 };

describe('a refund in flight is approved by', () => {
  it.each<[string, PaymentEvent[]]>([
    ['a sum that has grown by its amount', after([...approved, inFlight(300)], withSum(300))],
    [
      'that growth after a refund elsewhere',
      after([...approved, externalRefund(400), inFlight(300)], withSum(700)),
    ],
    [
      'a bare "refunded" if it is of the whole amount',
      after([...approved, inFlight(1000)], withoutSum('refunded')),
    ],
    [
      'that growth while a duplicate shows another sum',
      after(
        [...approved, inFlight(300)],
        shows('approved', { serviceToken: 'token-z', refundedAmount: 200 }),
        withSum(300),
      ),
    ],
  ])('%s', (_, events) => {
    expect(isApproved(events)).toBe(true);
    expect(reviewIn(events)).toEqual([]);
  });
});

describe('a refund in flight is in review after', () => {
  it.each<[string, PaymentEvent[], object]>([
    ['no growth', after([...approved, inFlight(300)], withSum(0)), evidence],
    [
      'growth by a part of it',
      after([...approved, inFlight(300)], withSum(200)),
      { ...evidence, observedRefundedAmount: 200, sumUnknown: true },
    ],
    [
      'growth by a part of it after a refund elsewhere',
      after([...approved, externalRefund(400), inFlight(300)], withSum(500)),
      { ...evidence, refundedAmount: 400, observedRefundedAmount: 500, sumUnknown: true },
    ],
    [
      'growth by a part and then by its amount: the rest is of another refund',
      after([...approved, inFlight(300)], withSum(200), withSum(300)),
      { ...evidence, observedRefundedAmount: 300, sumUnknown: true },
    ],
    [
      'growth by its amount from a sum that was not known',
      after([...approved, inFlight(300, { sumUnknown: true })], withSum(300)),
      { ...evidence, observedRefundedAmount: 300, sumUnknown: true },
    ],
    [
      'a sum in a record that is not understood',
      after([...approved, inFlight(300)], shows('odd', { refundedAmount: 200 })),
      { ...evidence, observedRefundedAmount: null, sumUnknown: true },
    ],
    [
      'a bare "refunded", if it is a part',
      after([...approved, inFlight(300)], withoutSum('refunded')),
      { ...evidence, observedRefundedAmount: null, observedStatus: 'refunded' },
    ],
    [
      'a bare "refunded", if it is the rest after another refund',
      after([...approved, externalRefund(400), inFlight(600)], withoutSum('refunded')),
      {
        ...evidence,
        amount: 600,
        refundedAmount: 400,
        observedRefundedAmount: null,
        observedStatus: 'refunded',
      },
    ],
    [
      'no sum, if it is of the whole amount',
      after([...approved, inFlight(1000)], withoutSum('approved')),
      { ...evidence, amount: 1000, observedRefundedAmount: null },
    ],
    [
      'a refusal, and a sum that has grown by a part',
      after([...approved, inFlight(300), unconfirmed('limit')], withSum(200)),
      { ...evidence, observedRefundedAmount: 200, refusedAs: 'limit', sumUnknown: true },
    ],
    [
      'a refusal without errors, and no sum',
      after([...approved, inFlight(300), unconfirmed()], withoutSum('approved')),
      { ...evidence, observedRefundedAmount: null, refusedAs: null },
    ],
    [
      'a refusal, and no payment at the provider',
      after([...approved, inFlight(300), unconfirmed('limit')], {
        type: 'RecordMissing',
        serviceToken: 'token-a',
        inquiredAt: announcedCall.quietUntil,
      }),
      { ...evidence, observedRefundedAmount: null, refusedAs: 'limit' },
    ],
  ])('%s', (_, events, expected) => {
    expect(isApproved(events)).toBe(false);
    expect(reviewIn(events).at(-1)).toEqual(expected);
  });
});

it('a refusal is confirmed by a sum that has not grown', () => {
  expect(decided([...approved, inFlight(300), unconfirmed('limit')], withSum(0))).toEqual([
    {
      type: 'RefundDeclined',
      data: { refundToken: 'b', reason: 'refused', errors: [apiError('processing_error', 'limit')] },
    },
  ]);
});

describe('a sum may be that of a refund that failed here', () => {
  const doubted = (history: readonly PaymentEvent[], input: PaymentInput) =>
    decided(history, input).flatMap((event) =>
      event.type === 'ReviewOpened' && event.data.discrepancy?.refundToken !== undefined
        ? [[event.data.discrepancy.refundToken, event.data.discrepancy.theirs?.refundedAmount]]
        : [],
    );

  it.each<[string, unknown[], unknown[]]>([
    [
      'after a refund elsewhere',
      doubted([...approved, externalRefund(400), ...failed('a', 300, 'refused')], withSum(700)),
      [['a', 700]],
    ],
    [
      'once only',
      doubted(after([...approved, ...failed('a', 300, 'resolved')], withSum(300)), withSum(700)),
      [],
    ],
    [
      'that a person called not made, next to the one in flight',
      doubted([...approved, ...failed('a', 300, 'resolved'), inFlight(200)], withSum(500)),
      [['a', 500]],
    ],
    [
      'but not if it proves the one in flight',
      doubted([...approved, ...failed('a', 100, 'resolved'), inFlight(200)], withSum(200)),
      [],
    ],
    [
      'but not if its amount is that of the one in flight',
      doubted(
        [...approved, ...failed('a', 300, 'refused'), inFlight(300, { sumUnknown: true })],
        withSum(300),
      ),
      [],
    ],
  ])('%s', (_, doubts, expected) => {
    expect(doubts).toEqual(expected);
  });

  it('if its answer arrives late; other sums of the payment do not count', () => {
    const history = after(
      [...approved, ...failed('a', 300, 'resolved')],
      shows('approved', { amount: 900, refundedAmount: 600 }),
    );
    expect(doubted(history, answerToRefund('a', acceptedRefund()))).toEqual([['a', 300]]);
    expect(decided(history, answerToRefund('a', { kind: 'refused', errors: [] }))).toEqual([]);
  });
});

describe('the answer to a refund', () => {
  const history = [...approved, inFlight(300)];
  const unresolved = (reason: string, more: object = {}) => [
    { type: 'RefundUnresolved', data: { refundToken: 'b', reason, ...more } },
  ];

  it('of other terms or of an unknown status proves nothing', () => {
    const eventsOf = (changes: Parameters<typeof acceptedRefund>[0]) =>
      decided(history, answerToRefund('b', acceptedRefund(changes)));
    expect(eventsOf({ amount: 299 })).toEqual(unresolved('the answer is about 299 EUR'));
    expect(eventsOf({ currency: 'USD' })).toEqual(unresolved('the answer is about 300 USD'));
    expect(eventsOf({ status: 'odd' })).toEqual(unresolved('the provider reports odd'));
    expect(eventsOf({ status: 'pending' })).toEqual([
      { type: 'RefundAccepted', data: { refundToken: 'b', serviceRefundToken: 'service-refund-1' } },
    ]);
  });

  it('that refuses it has its errors until an inquiry confirms it', () => {
    const errors = [apiError('processing_error')];
    expect(decided(history, answerToRefund('b', { kind: 'unknown', reason: 'refused', errors }))).toEqual(
      unresolved('refused', { errors }),
    );
  });
});

describe('a request for a refund', () => {
  it('is refused for a dispute only if it would be possible without one', () => {
    const dispute: PaymentEvent = {
      type: 'DisputeOpened',
      data: { disputeToken: 'dsp_1', amount: 400, revision: 0 },
    };
    const history = after([...approved, dispute], shows('approved', { amount: 900 }));
    const refusalOf = (amount: number) => decide(paymentAfter(history), submitRefund('b', amount));
    const refused = (code: string) => ({ kind: 'refused', refusal: { code, refundableAmount: 500 } });
    expect(refusalOf(850)).toMatchObject(refused('payment_disputed'));
    expect(refusalOf(950)).toMatchObject(refused('refund_exceeds_amount'));
  });

  it('does not doubt the sum because of a duplicate', () => {
    const history = after(approved, shows('approved', { serviceToken: 'token-z' }));
    expect(decided(history, submitRefund('b', 100))[0]?.data).not.toHaveProperty('sumUnknown');
  });
});
