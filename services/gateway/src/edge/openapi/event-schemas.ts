/** The history of a payment or payout, as teams read it: one schema for each type of event. */
import { paymentStatusSchema } from '@tollgate/payment-api';
import {
  type PaymentEventType,
  type PayoutEventType,
  reviewCodeSchema,
  paymentPhases,
  payoutReviewCodeSchema,
  payoutFailureSchema,
  payoutPhases,
  payoutStatusSchema,
} from '@tollgate/payment-domain';
import { z } from 'zod';
import {
  amountShownSchema,
  destinationSchema,
  errorShownSchema,
  evidenceShownSchema,
  instantShownSchema,
  termsShown,
} from './value-schemas.ts';

const resolved = { number: z.int().min(1).exactOptional(), resolution: z.string(), reason: z.string() };
const reason = { reason: z.string() };
const nothing = {};
const attempt = z.strictObject({
  number: z.int().min(1),
  providerOrderNumber: z.string().describe('What the Payment Service was given as the order number.'),
  sendBy: instantShownSchema.describe('The call is made before this instant, or never.'),
});
const attemptNumber = z.int().min(1);
const sendBy = { sendBy: instantShownSchema };
const evidence = z.enum(['answer', 'inquiry']).describe("The call's own answer, or a later look.");
const mask = { sanitizedMask: z.string().exactOptional() };
const errors = z.array(errorShownSchema);
const endReason = z.enum(['refused', 'not-sent', 'declined', 'resolved']);
const refusedCall = { errors, reason: endReason.exactOptional() };
const refundToken = z.string();
const declineReason = z.string().exactOptional();

const paymentEventData: Record<PaymentEventType, z.ZodRawShape> = {
  PaymentRequested: { kind: z.enum(['hosted', 'card', 'recurring']), ...termsShown, attempt },
  AttemptAccepted: { attemptNumber, evidence },
  AttemptRefused: { attemptNumber, errors },
  AttemptNotSent: { attemptNumber, ...reason },
  AttemptUnresolved: { attemptNumber, ...reason },
  AttemptNotFound: { attemptNumber },
  AttemptStarted: { attempt },
  PaymentPending: nothing,
  PaymentAuthorized: { heldAmount: amountShownSchema, ...mask },
  PaymentApproved: { amount: amountShownSchema, ...mask },
  PaymentDeclined: { declineReason, ...mask },
  PaymentExpired: nothing,
  PaymentFailed: { reason: z.enum(['refused', 'not-sent', 'not-found', 'resolved']) },
  CaptureSubmitted: sendBy,
  CaptureRefused: refusedCall,
  CaptureUnresolved: reason,
  VoidSubmitted: sendBy,
  VoidRefused: refusedCall,
  VoidUnresolved: reason,
  RefundSubmitted: { refundToken, amount: amountShownSchema, ...sendBy },
  RefundAccepted: { refundToken },
  RefundApproved: { refundToken },
  RefundDeclined: { refundToken, ...refusedCall },
  RefundUnresolved: { refundToken, ...reason },
  RefundDeclineReported: {},
  ExternalRefundObserved: { amount: amountShownSchema },
  FinalStatusRevised: {
    from: paymentStatusSchema,
    to: z.enum(['approved', 'declined', 'expired', 'refunded']),
    amount: amountShownSchema.exactOptional(),
    declineReason,
  },
  RecurringTokenIssued: { recurringToken: z.string() },
  ReviewOpened: { code: reviewCodeSchema, evidence: evidenceShownSchema },
  ReviewResolved: { code: reviewCodeSchema, ...resolved },
};

const payoutEventData: Record<PayoutEventType, z.ZodRawShape> = {
  PayoutRequested: {
    ...{ amount: amountShownSchema, currency: z.string(), orderNumber: z.string() },
    ...{ destination: destinationSchema, callbackUrl: z.string().exactOptional() },
    call: attempt.omit({ number: true }),
  },
  PayoutAccepted: { evidence },
  PayoutRefused: { errors },
  PayoutNotSent: reason,
  PayoutUnresolved: reason,
  PayoutApproved: nothing,
  PayoutDeclined: { declineReason },
  PayoutFailed: { reason: payoutFailureSchema },
  FinalStatusRevised: { from: z.enum(['approved', 'declined']), to: payoutStatusSchema, declineReason },
  ReviewOpened: { code: payoutReviewCodeSchema, evidence: evidenceShownSchema },
  ReviewResolved: { code: payoutReviewCodeSchema, ...resolved },
};

const actor = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('team'), team: z.string(), keyId: z.string() }),
  z.strictObject({ kind: z.literal('service'), name: z.string() }),
]);

export const causeSchema = z.strictObject({
  correlationId: z.string().describe('The same for everything that one request or callback set off.'),
  causationId: z.string(),
  actor: actor.describe('Who caused it: a team through one of its keys, or a service of the gateway.'),
});

function historySchema(
  dataByType: Readonly<Record<string, z.ZodRawShape>>,
  after: { phase: z.ZodType; status: z.ZodType },
) {
  const entries = Object.entries(dataByType).map(([type, data]) =>
    z.strictObject({
      revision: z.int().min(0).describe('Its number in the history, from 0.'),
      type: z.literal(type),
      at: instantShownSchema.describe('When it was decided.'),
      ...after,
      cause: causeSchema,
      data: z.strictObject(data),
    }),
  );
  const [first, ...others] = entries;
  if (first === undefined) throw new RangeError('a history without events');
  return z.discriminatedUnion('type', [first, ...others]);
}

export const paymentEventSchema = historySchema(paymentEventData, {
  phase: z.enum(paymentPhases).describe('After the event.'),
  status: paymentStatusSchema.describe('After the event.'),
});

export const payoutEventSchema = historySchema(payoutEventData, {
  phase: z.enum(payoutPhases).describe('After the event.'),
  status: payoutStatusSchema.describe('After the event.'),
});
