import { expect, test } from 'vitest';
import { historyTo, paymentAfter, refundSubmitted, sampleEvents } from '../../testing/samples.ts';
import type { InquiryNeed } from '../failed-inquiry.ts';
import { inquiryNeedOf } from './inquiry-need.ts';
import { reviewCodes, type ReviewCode, type PaymentEvent } from './payment-events.ts';
import type { PaymentPhase } from './payment-machine.ts';

test.each<[PaymentPhase, InquiryNeed | undefined]>([
  ['requested', 'unresolved'],
  ['unresolved', 'unresolved'],
  ['init', 'open'],
  ['pending', 'open'],
  ['authorized', 'open'],
  ['capturing', 'unresolved'],
  ['voiding', 'unresolved'],
  ['approved', undefined],
  ['declined', undefined],
  ['voided', undefined],
  ['refunded', undefined],
  ['expired', undefined],
  ['failed', undefined],
])('in phase %s the need of an inquiry is %s', (phase, need) => {
  expect(inquiryNeedOf(paymentAfter(historyTo[phase]))).toBe(need);
});

const refund = refundSubmitted('refund-1', 300);

test.each<[string, PaymentEvent[], InquiryNeed | undefined]>([
  ['submitted', [refund], 'unresolved'],
  ['unresolved', [refund, sampleEvents.RefundUnresolved], 'unresolved'],
  ['accepted', [refund, sampleEvents.RefundAccepted], 'open'],
  ['approved', [refund, sampleEvents.RefundApproved], undefined],
  ['declined', [refund, sampleEvents.RefundDeclined], undefined],
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

test.each(reviewCodes)('%s on a final payment needs an inquiry where one resolves it', (code) => {
  const need = code === 'callback_not_applied' ? 'open' : undefined;
  expect(inquiryNeedOf(paymentAfter([...historyTo.approved, opened(code)]))).toBe(need);
});
