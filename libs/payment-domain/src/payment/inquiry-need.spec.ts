import { expect, test } from 'vitest';
import {
  callbackInquired,
  deferred,
  historyTo,
  paymentAfter,
  refundSubmitted,
  sampleEvents,
} from '../../testing/samples.ts';
import type { InquiryNeed } from '../failed-inquiry.ts';
import { inquiryNeedOf } from './inquiry-need.ts';
import { reviewCodes, type ReviewCode, type PaymentEvent } from './payment-events.ts';
import { paymentPhases, type PaymentPhase } from './payment-machine.ts';

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
