import {
  type ObservedPayment,
  type PaymentEvent,
  evolve,
  evolvePaymentAggregate,
  inquiryNeedOf,
  refundableAmount,
} from '@tollgate/core';
import {
  adopted,
  decided,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
} from '@tollgate/core/testing/samples';
import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import { type AdoptPayment, adoptPayment } from './decide-adoption.ts';

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

test('earlier refunds are recorded from the start', () => {
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

test('a payment with a refund of unknown amount is not adopted', () => {
  for (const refundedAmount of [0, undefined])
    given([])
      .when(adopt(shown('refunded', { refundedAmount })))
      .thenRefused('payment_not_readable');
});

test('missing sums of an approved payment count as zero', () => {
  const snapshot = shown('approved', { authorizedAmount: undefined, refundedAmount: undefined });
  expect(paymentFrom(snapshot)).toMatchObject({ approvedAmount: 1000, refundedAmount: 0 });
});

test('only an authorized payment needs a confirmation, and only an open one or one with a token may recur', () => {
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

test('an unnamed product stays unnamed', () => {
  const { product: _, ...unnamed } = adopt(shown('init'));
  expect(paymentAfter(eventsOf(unnamed)).terms).toMatchObject({ product: '' });
});

test("an open payment is inquired, and follows the provider's status", () => {
  const history = eventsOf(adopt(shown('pending')));
  expect(inquiryNeedOf(paymentAfter(history))).toBe('open');
  expect(decided(history, inquired(shown('approved')))).toMatchObject([{ type: 'PaymentApproved' }]);
});

test('an order number that only a later inquiry shows is no discrepancy', () => {
  const { orderNumber: _, ...unnumbered } = shown('approved');
  expect(decided(eventsOf(adopt(unnumbered)), inquired(unnumbered))).toEqual([]);
});

test('the rest of it can be refunded like any other payment', () => {
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
  expect(paymentDomain.decide(paymentAfter([adopted()]), { ...refund, amount: 801 })).toMatchObject({
    refusal: { code: 'refund_exceeds_amount', refundableAmount: 800, currency: 'EUR' },
  });
});

test('the alias of a recurring token is part of it, and is not issued again', () => {
  const snapshot = shown('approved', { recurringToken: 'rec_1' });
  expect(paymentFrom(snapshot)).toMatchObject({ recurringToken: 'rec_1', terms: { recurring: true } });
  expect(decided(eventsOf(adopt(snapshot)), inquired(snapshot))).toEqual([]);
});

test('the recurring token of an open payment is issued once the provider shows it', () => {
  const history = eventsOf(adopt(shown('pending')));
  expect(decided(history, inquired(shown('approved', { recurringToken: 'rec_1' })))).toMatchObject([
    { type: 'PaymentApproved' },
    { type: 'RecurringTokenIssued', data: { recurringToken: 'rec_1' } },
  ]);
});

test('webhooks go to the URL that the operator gives, and nowhere otherwise', () => {
  expect(paymentFrom(shown('init')).terms).not.toHaveProperty('callbackUrl');
  const [event] = eventsOf(adopt(shown('init'), { callbackUrl: 'https://shop.example/hooks' }));
  expect(event?.data).toMatchObject({ terms: { callbackUrl: 'https://shop.example/hooks' } });
});

describe('its age', () => {
  const createdAtOf = (snapshot: ObservedPayment) => {
    const [event] = eventsOf(adopt(snapshot)) as [PaymentEvent];
    const happened = { token: 'pay_1', event, recordedAt: 500, revision: 0, position: '1' };
    return evolvePaymentAggregate(undefined, happened);
  };

  test("is the provider's, if shown", () => {
    expect(createdAtOf(shown('init'))).toMatchObject({ createdAt: 1, updatedAt: 500 });
    const { createdAt: _, ...undated } = shown('init');
    expect(createdAtOf(undated)).toMatchObject({ createdAt: 500 });
  });

  test('is never younger than the adoption', () => {
    expect(createdAtOf(shown('init', { createdAt: 501 }))).toMatchObject({ createdAt: 500 });
  });
});

describe('refused', () => {
  test('a payment of another team stays with that team', () => {
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
  ])('an invalid payment is refused, with its field named: %s', (parameter, snapshot) => {
    expect(adoptPayment(undefined, adopt(snapshot))).toEqual({
      kind: 'refused',
      refusal: { code: 'payment_not_readable', parameter },
    });
  });
});

test('an adopted payment becomes payable once, and only if an operator says so', () => {
  const declared = { type: 'AdoptionDeclaredPayable', data: {} } as const;
  const again = (isPayable: boolean) => adopt(observed('approved'), { isPayable });
  given([adopted()]).when(again(true)).then([declared]);
  given([adopted()]).when(again(false)).then([]);
  given([adopted(), declared]).when(again(true)).then([]);
});
