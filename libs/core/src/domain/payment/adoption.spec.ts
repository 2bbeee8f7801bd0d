import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  adopted,
  decided,
  fold,
  inquired,
  observed,
  paymentAfter,
  requestPayment,
} from '../testing/samples.ts';
import { adoptPayment, type AdoptPayment } from './adoption.ts';
import { evolvePaymentAggregate } from '../aggregate.ts';
import { callAnnouncedBy } from './announced-call.ts';
import { inquiryNeedOf } from './inquiry-need.ts';
import type { ObservedPayment } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import type { PaymentEvent } from './payment-events.ts';
import { evolve } from './payment-evolve.ts';
import { refundableAmount } from './payment-state.ts';

const shown = (status: string, changes: Partial<ObservedPayment> = {}): ObservedPayment =>
  observed(status, { orderNumber: 'shop-1', createdAt: 1, ...changes });

const adopt = (snapshot: ObservedPayment, changes: Partial<AdoptPayment> = {}): AdoptPayment => ({
  type: 'AdoptPayment',
  environment: 'sandbox',
  team: 'shop',
  wallet: 'team-shop',
  isPayable: false,
  account: 'main',
  product: 'A ticket',
  observed: snapshot,
  adoptedAt: 500,
  ...changes,
});

const { given } = scenario({
  initial: undefined,
  evolve,
  decide: adoptPayment,
  againGives: () => 'nothing' as const,
});

const eventsOf = (command: AdoptPayment): readonly PaymentEvent[] => {
  const decision = adoptPayment(undefined, command);
  if (decision.kind === 'refused') throw new Error(decision.refusal.code);
  return decision.events;
};
const paymentFrom = (snapshot: ObservedPayment) => paymentAfter(eventsOf(adopt(snapshot)));

test('what was refunded before is known from the start', () => {
  given([])
    .when(adopt(shown('approved', { refundedAmount: 200 })))
    .then([adopted()]);
  const payment = paymentAfter([adopted()]);
  expect(payment).toMatchObject({
    phase: 'approved',
    approvedAmount: 1000,
    refundedAmount: 200,
    refunds: [],
  });
  expect(refundableAmount(payment)).toBe(800);
});

test.each<[string, Partial<ObservedPayment>, object]>([
  ['init', {}, { phase: 'init', approvedAmount: 0 }],
  ['pending', {}, { phase: 'pending', authorizedAmount: 0 }],
  ['pending', { authorizedAmount: 1000 }, { phase: 'authorized', authorizedAmount: 1000 }],
  ['approved', {}, { phase: 'approved', approvedAmount: 1000 }],
  ['approved', { refundedAmount: 1000 }, { phase: 'refunded', approvedAmount: 1000, refundedAmount: 1000 }],
  ['refunded', { refundedAmount: 1000 }, { phase: 'refunded', approvedAmount: 1000, refundedAmount: 1000 }],
  ['refunded', { refundedAmount: 300 }, { phase: 'approved', approvedAmount: 1000, refundedAmount: 300 }],
  ['declined', { declineReason: 'no' }, { phase: 'declined', approvedAmount: 0, declineReason: 'no' }],
  ['expired', {}, { phase: 'expired', approvedAmount: 0 }],
])(
  'shown as %s %j it begins in that phase, and the same snapshot adds nothing',
  (status, changes, expected) => {
    const snapshot = shown(status, changes);
    expect(paymentFrom(snapshot)).toMatchObject(expected);
    expect(decided(eventsOf(adopt(snapshot)), inquired(snapshot))).toEqual([]);
  },
);

test('a payment of which something went back, and it is not shown how much, is not adopted', () => {
  for (const refundedAmount of [0, undefined])
    given([])
      .when(adopt(shown('refunded', { refundedAmount })))
      .thenRefused('payment_not_readable');
});

test('sums that are not shown of an approved payment are none', () => {
  const snapshot = shown('approved', { authorizedAmount: undefined, refundedAmount: undefined });
  expect(paymentFrom(snapshot)).toMatchObject({ approvedAmount: 1000, refundedAmount: 0 });
});

test('only what is authorized needs a confirmation, and only what is open or has a token may recur', () => {
  const termsOf = (snapshot: ObservedPayment) => paymentFrom(snapshot).terms;
  expect(termsOf(shown('pending', { authorizedAmount: 1000 }))).toMatchObject({
    needConfirmation: true,
    recurring: true,
  });
  expect(termsOf(shown('init'))).toMatchObject({ needConfirmation: false, recurring: true });
  const paid = termsOf(shown('approved', { authorizedAmount: 1000 }));
  expect(paid).toMatchObject({ needConfirmation: false });
  expect(paid).not.toHaveProperty('recurring');
  expect(termsOf(shown('declined'))).not.toHaveProperty('recurring');
});

test('a product that nobody names is none', () => {
  const { product: _, ...unnamed } = adopt(shown('init'));
  expect(paymentAfter(eventsOf(unnamed)).terms).toMatchObject({ product: '' });
});

test('nothing that the adoption records announces a call', () => {
  const events = eventsOf(adopt(shown('pending')));
  expect(callAnnouncedBy(events, paymentAfter(events))).toBeUndefined();
});

test('what is still open is inquired, and follows what the service shows', () => {
  const history = eventsOf(adopt(shown('pending')));
  expect(inquiryNeedOf(paymentAfter(history))).toBe('open');
  expect(decided(history, inquired(shown('approved')))).toMatchObject([{ type: 'PaymentApproved' }]);
});

test('an order number that only a later inquiry shows contradicts nothing if none was shown before', () => {
  const { orderNumber: _, ...unnumbered } = shown('approved');
  expect(decided(eventsOf(adopt(unnumbered)), inquired(unnumbered))).toEqual([]);
});

test('it is refunded as any other, of what is left', () => {
  const window = { sendBy: 1_000, answerBy: 10_000, quietUntil: 60_000 };
  const refund = {
    type: 'SubmitRefund',
    refundToken: 'ref_1',
    askedBy: 'key-1',
    askedAt: 0,
    fingerprint: 'f',
    window,
  } as const;
  expect(decided([adopted()], refund)).toMatchObject([{ type: 'RefundSubmitted', data: { amount: 800 } }]);
  expect(decide(fold([adopted()]), { ...refund, amount: 801 })).toMatchObject({
    refusal: { code: 'refund_exceeds_amount', refundableAmount: 800, currency: 'EUR' },
  });
});

test('the alias of a recurring token is part of it, and is not issued again', () => {
  const snapshot = shown('approved', { recurringToken: 'rec_1' });
  expect(paymentFrom(snapshot)).toMatchObject({ recurringToken: 'rec_1', terms: { recurring: true } });
  expect(decided(eventsOf(adopt(snapshot)), inquired(snapshot))).toEqual([]);
});

test('the recurring token of a payment that was open is issued once it shows', () => {
  const history = eventsOf(adopt(shown('pending')));
  expect(decided(history, inquired(shown('approved', { recurringToken: 'rec_1' })))).toMatchObject([
    { type: 'PaymentApproved' },
    { type: 'RecurringTokenIssued', data: { recurringToken: 'rec_1' } },
  ]);
});

test('webhooks go where the operator says, and nowhere otherwise', () => {
  expect(paymentFrom(shown('init')).terms).not.toHaveProperty('callbackUrl');
  const [event] = eventsOf(adopt(shown('init'), { callbackUrl: 'https://shop.example/hooks' }));
  expect(event?.data).toMatchObject({ terms: { callbackUrl: 'https://shop.example/hooks' } });
});

describe('how old it is', () => {
  const createdAtOf = (snapshot: ObservedPayment) => {
    const [event] = eventsOf(adopt(snapshot)) as [PaymentEvent];
    const happened = { token: 'pay_1', event, recordedAt: 500, revision: 0, position: '1' };
    return evolvePaymentAggregate(undefined, happened);
  };

  test('the service says, where it does', () => {
    expect(createdAtOf(shown('init'))).toMatchObject({ createdAt: 1, updatedAt: 500 });
    const { createdAt: _, ...undated } = shown('init');
    expect(createdAtOf(undated)).toMatchObject({ createdAt: 500 });
  });

  test('it is never younger than its adoption', () => {
    expect(createdAtOf(shown('init', { createdAt: 501 }))).toMatchObject({ createdAt: 500 });
  });
});

describe('refused', () => {
  test('a payment that another team has is left with it', () => {
    const ofBooks = adopted({ team: 'books' });
    given([ofBooks])
      .when(adopt(shown('approved')))
      .thenRefused('adopted_by_another_team');
  });

  test.each<[string, ObservedPayment]>([
    ['status', shown('frozen')],
    ['amount', shown('approved', { amount: 0 })],
    ['currency', shown('approved', { currency: 'euro' })],
    ['refundedAmount', shown('approved', { refundedAmount: 1001 })],
    ['refundedAmount', shown('init', { refundedAmount: -1 })],
    ['authorizedAmount', shown('pending', { authorizedAmount: 1001 })],
    ['serviceToken', shown('approved', { serviceToken: 'x'.repeat(5000) })],
  ])('what no payment can be is refused, with its field named: %s', (parameter, snapshot) => {
    expect(adoptPayment(undefined, adopt(snapshot))).toEqual({
      kind: 'refused',
      refusal: { code: 'payment_not_readable', parameter },
    });
  });
});

test('a payment that was adopted neither begins again nor was requested before', () => {
  expect(() => fold([adopted(), adopted()])).toThrow('occurred after the first event');
  expect(decide(fold([adopted()]), requestPayment())).toMatchObject({
    refusal: { code: 'idempotency_key_reused' },
  });
});
