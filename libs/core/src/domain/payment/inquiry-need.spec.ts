import { expect, test } from 'vitest';
import {
  callbackInquired,
  deferred,
  historyTo,
  paymentAfter,
  refundSubmitted,
  sampleEvents,
} from '../testing/samples.ts';
import type { InquiryNeed } from '../failed-inquiry.ts';
import { callWithoutOutcome, inquiryNeedOf, latestQuietUntil } from './inquiry-need.ts';
import { reviewCodes, type ReviewCode, type PaymentEvent } from './payment-events.ts';
import { paymentPhases, type PaymentPhase } from './payment-machine.ts';
import type { Payment } from './payment-state.ts';

test.each<[PaymentPhase, InquiryNeed]>([
  ['requested', 'unresolved'],
  ['unresolved', 'unresolved'],
  ['init', 'open'],
  ['pending', 'open'],
  ['authorized', 'open'],
  ['capturing', 'unresolved'],
  ['voiding', 'unresolved'],
  ['approved', 'settled'],
  ['declined', 'settled'],
  ['voided', 'settled'],
  ['refunded', 'settled'],
  ['expired', 'settled'],
  ['failed', 'settled'],
])('in phase %s the need of an inquiry is %s', (phase, need) => {
  expect(inquiryNeedOf(paymentAfter(historyTo[phase]))).toBe(need);
});

const refund = refundSubmitted('refund-1', 300);

test.each<[string, PaymentEvent[], InquiryNeed]>([
  ['submitted', [refund], 'unresolved'],
  ['unresolved', [refund, sampleEvents.RefundUnresolved], 'unresolved'],
  ['accepted', [refund, sampleEvents.RefundAccepted], 'open'],
  ['approved', [refund, sampleEvents.RefundApproved], 'settled'],
  ['declined', [refund, sampleEvents.RefundDeclined], 'settled'],
])('the need of an inquiry follows a refund that is %s', (_, events, need) => {
  expect(inquiryNeedOf(paymentAfter([...historyTo.approved, ...events]))).toBe(need);
});

test('a refund in flight keeps a revised payment under inquiry', () => {
  const revised: PaymentEvent = { type: 'FinalStatusRevised', data: { from: 'approved', to: 'declined' } };
  expect(inquiryNeedOf(paymentAfter([...historyTo.approved, refund, revised]))).toBe('unresolved');
});

const opened = (code: ReviewCode): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: {} },
});

test.each(reviewCodes)('%s leaves a final payment settled: a person decides', (code) => {
  expect(inquiryNeedOf(paymentAfter([...historyTo.approved, opened(code)]))).toBe('settled');
});

test.each(paymentPhases)('in phase %s a deferred callback is unresolved until it is inquired', (phase) => {
  const waiting = [...historyTo[phase], deferred('token-b'), deferred()];
  const need = inquiryNeedOf(paymentAfter(historyTo[phase]));
  expect(inquiryNeedOf(paymentAfter(waiting))).toBe('unresolved');
  expect(inquiryNeedOf(paymentAfter([...waiting, callbackInquired()]))).toBe('unresolved');
  const over = [...waiting, callbackInquired(), callbackInquired('token-b')];
  expect(inquiryNeedOf(paymentAfter(over))).toBe(need);
});

const approvedRefund = (refundToken: string): PaymentEvent => ({
  type: 'RefundApproved',
  data: { refundToken, serviceRefundToken: `service-${refundToken}` },
});
const twoRefunds = [
  ...historyTo.approved,
  ...[refund, approvedRefund('refund-1')],
  ...[refundSubmitted('refund-2', 200), approvedRefund('refund-2')],
];

test.each<[string, readonly PaymentEvent[], (payment: Payment) => unknown]>([
  ['requested payment: its attempt', historyTo.requested, ({ attempt }) => attempt],
  ['payment that is captured: the capture', historyTo.capturing, ({ captureOrVoid }) => captureOrVoid],
  ['payment that is voided: the void', historyTo.voiding, ({ captureOrVoid }) => captureOrVoid],
  ['payment with a refund under way: that', [...historyTo.approved, refund], ({ refunds }) => refunds[0]],
])('the call without an outcome of a %s', (_, history, windowOf) => {
  const payment = paymentAfter(history);
  expect(windowOf(payment)).toBeDefined();
  expect(callWithoutOutcome(payment)).toBe(windowOf(payment));
});

test('none if every call has an outcome', () => {
  expect(callWithoutOutcome(paymentAfter(historyTo.approved))).toBeUndefined();
  expect(callWithoutOutcome(paymentAfter(twoRefunds))).toBeUndefined();
  const accepted = [...historyTo.approved, refund, sampleEvents.RefundAccepted];
  expect(callWithoutOutcome(paymentAfter(accepted))).toBeUndefined();
});

test('the quiet period of a payment ends with that of the call which can take effect last', () => {
  const payment = paymentAfter(twoRefunds);
  for (const later of [0, 1, 2]) {
    const quietUntil = (index: number) => ({ quietUntil: index === later ? 2 : 1 });
    const attempt = { ...payment.attempt, ...quietUntil(2) };
    const refunds = payment.refunds.map((each, index) => ({ ...each, ...quietUntil(index) }));
    expect(latestQuietUntil({ ...payment, attempt, refunds })).toBe(2);
  }
});
