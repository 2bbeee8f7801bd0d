import { currencySchema, paymentStatusSchema } from '@tollgate/payment-api/values';
import { z } from 'zod';
import {
  amountField,
  reviewOpened,
  reviewResolved,
  declineReason,
  errors,
  evidenceSource,
  oneOf,
  reason,
  sendBy,
} from './event-fields.ts';

const attempt = z
  .object({
    number: z.int().min(1).describe('From 1.'),
    providerOrderNumber: z.string().describe('What the Payment Service was given as the order number.'),
    sendBy,
  })
  .describe('The announced call that creates the payment at the Payment Service.');
const attemptNumber = z.int().min(1).describe('Of the attempt that this is about.');
const sanitizedMask = z.string().optional().describe('First and last digits of the card.');
const refusedCall = {
  errors,
  reason: oneOf(['refused', 'not-sent', 'declined', 'resolved'], 'Why nothing came of it.').optional(),
};
const refundToken = z.string().describe('The refund.');
const nothing = z.object({});
const reviewCodes = [
  ...['attempt_not_found', 'callback_not_applied', 'final_status_revised', 'refund_disagrees'],
  ...['refund_unresolved', 'second_payment_found', 'service_not_readable', 'service_payment_missing'],
  ...['terms_disagree', 'capture_unresolved', 'unknown_status'],
];

/** What the data of each event on `gateway.payments.v1` hold. */
export const paymentEventData = {
  PaymentRequested: z.object({
    kind: oneOf(['hosted', 'card', 'recurring'], 'How the customer pays.'),
    product: z.string(),
    amount: amountField,
    currency: currencySchema,
    orderNumber: z.string().optional().describe("The team's own number."),
    locale: z.string().optional(),
    recurring: z.boolean().optional().describe('True where a recurring token was asked for.'),
    recurringToken: z.string().optional().describe('The recurring token that is charged.'),
    needConfirmation: z
      .boolean()
      .describe('True where the money is held until the team confirms or declines.'),
    attempt,
  }),
  AttemptAccepted: z.object({ attemptNumber, evidence: evidenceSource }),
  AttemptRefused: z.object({ attemptNumber, errors }),
  AttemptNotSent: z.object({ attemptNumber, reason }),
  AttemptUnresolved: z.object({ attemptNumber, reason }),
  AttemptNotFound: z.object({ attemptNumber }),
  AttemptStarted: z.object({ attempt }),
  PaymentPending: nothing,
  PaymentAuthorized: z.object({ heldAmount: amountField, sanitizedMask }),
  PaymentApproved: z.object({ amount: amountField, sanitizedMask }),
  PaymentDeclined: z.object({ declineReason, sanitizedMask }),
  PaymentExpired: nothing,
  PaymentFailed: z.object({ reason: oneOf(['refused', 'not-sent', 'not-found', 'resolved']) }),
  CaptureSubmitted: z.object({ sendBy }),
  CaptureRefused: z.object(refusedCall),
  CaptureUnresolved: z.object({ reason }),
  VoidSubmitted: z.object({ sendBy }),
  VoidRefused: z.object(refusedCall),
  VoidUnresolved: z.object({ reason }),
  RefundSubmitted: z.object({ refundToken, amount: amountField, sendBy }),
  RefundAccepted: z.object({ refundToken }),
  RefundApproved: z.object({ refundToken }),
  RefundDeclined: z.object({ refundToken, ...refusedCall }),
  RefundUnresolved: z.object({ refundToken, reason }),
  RefundDeclineReported: nothing,
  ExternalRefundObserved: z.object({ amount: amountField }),
  FinalStatusRevised: z.object({
    from: paymentStatusSchema,
    to: paymentStatusSchema,
    amount: amountField.optional().describe('What stands approved after a revision to `approved`.'),
    declineReason,
  }),
  RecurringTokenIssued: z.object({ recurringToken: z.string() }),
  ReviewOpened: reviewOpened(reviewCodes),
  ReviewResolved: reviewResolved(reviewCodes),
} as const;

export type PaymentEventName = keyof typeof paymentEventData;
