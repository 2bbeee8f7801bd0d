/** Inputs and events for the payment specs. */
import type {
  PaymentInput,
  RecordRefundOutcome,
  RefundOutcome,
  SubmitRefund,
} from '../payment/payment-commands.ts';
import type { PaymentEvent, ReviewCode } from '../payment/payment-events.ts';
import type { Resolution } from '../review.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import { announcedCall, decided } from './samples.ts';

/** The history, and the events of these inputs. */
export const after = (history: readonly PaymentEvent[], ...inputs: PaymentInput[]): PaymentEvent[] =>
  inputs.reduce<PaymentEvent[]>((all, input) => [...all, ...decided(all, input)], [...history]);

/** Without an amount: of all that is left. */
export const submitRefund = (
  refundToken: string,
  amount?: number,
  changes: Partial<SubmitRefund> = {},
): SubmitRefund => ({
  type: 'SubmitRefund',
  refundToken,
  askedBy: 'key-1',
  askedAt: 0,
  ...(amount === undefined ? {} : { amount }),
  fingerprint: `fingerprint of ${refundToken}`,
  window: announcedCall,
  ...changes,
});

/** Of 300, approved at once. */
export const acceptedRefund = (
  changes: Partial<Extract<RefundOutcome, { kind: 'accepted' }>> = {},
): RefundOutcome => ({
  kind: 'accepted',
  serviceRefundToken: 'service-refund-1',
  status: 'approved',
  amount: 300,
  currency: 'EUR',
  ...changes,
});
export const answerToRefund = (refundToken: string, outcome: RefundOutcome): RecordRefundOutcome => ({
  type: 'RecordRefundOutcome',
  refundToken,
  outcome,
});
export const externalRefund = (amount: number): PaymentEvent => ({
  type: 'ExternalRefundObserved',
  data: { amount },
});

export const missing: PaymentInput = { type: 'RecordMissing', serviceToken: 'token-a', inquiredAt: 0 };

/** A person's answer to the first review of this code. */
export const resolve = (
  code: ReviewCode,
  resolution: Resolution,
  more: Partial<ResolveReview<ReviewCode>> = {},
): ResolveReview<ReviewCode> => ({
  type: 'ResolveReview',
  code,
  number: 1,
  resolution,
  reason: 'asked them',
  ...more,
});
