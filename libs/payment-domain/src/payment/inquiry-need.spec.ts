import { expect, test } from 'vitest';
import { historyTo, paymentAfter, refundSubmitted, sampleEvents } from '../../testing/samples.ts';
import { inquiryNeedOf, type InquiryNeed } from './inquiry-need.ts';
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
  ['refunded', undefined],
  ['expired', undefined],
  ['failed', undefined],
])('in phase %s the work is %s', (phase, work) => {
  expect(inquiryNeedOf(paymentAfter(historyTo[phase]))).toBe(work);
});

const refund = refundSubmitted('refund-1', 300);

test.each<[string, PaymentEvent[], InquiryNeed | undefined]>([
  ['submitted', [refund], 'unresolved'],
  ['unresolved', [refund, sampleEvents.RefundUnresolved], 'unresolved'],
  ['accepted', [refund, sampleEvents.RefundAccepted], 'open'],
  ['approved', [refund, sampleEvents.RefundApproved], undefined],
  ['declined', [refund, sampleEvents.RefundDeclined], undefined],
])('a refund that is %s makes the work %s %s', (_, events, work) => {
  expect(inquiryNeedOf(paymentAfter([...historyTo.approved, ...events]))).toBe(work);
});

test('a refund on its way keeps a revised payment at work', () => {
  const revised: PaymentEvent = { type: 'FinalStatusRevised', data: { from: 'approved', to: 'declined' } };
  expect(inquiryNeedOf(paymentAfter([...historyTo.approved, refund, revised]))).toBe('unresolved');
});

const raised = (code: ReviewCode): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: {} },
});

test.each(reviewCodes)('%s on a final payment makes work where a look ends it', (code) => {
  const work = code === 'callback_not_applied' ? 'open' : undefined;
  expect(inquiryNeedOf(paymentAfter([...historyTo.approved, raised(code)]))).toBe(work);
});
