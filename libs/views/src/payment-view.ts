/** The document of one payment. */
import { apiErrorSchema } from '@tollgate/payment-api/values';
import {
  attemptSchema,
  reviewCodeSchema,
  reviewNumberSchema,
  callWindowSchema,
  decodePaymentEvent,
  environmentSchema,
  evidenceSchema,
  evolve,
  paymentPhases,
  paymentStreamPrefix,
  termsSchema,
  type Payment,
  type PaymentEvent,
  type Refund,
  type CaptureOrVoid,
} from '@tollgate/payment-domain';
import { z } from 'zod';
import { reviewsSinceAfter } from './reviews-since.ts';
import {
  createFold,
  createdAtOf,
  envelopeSchema,
  instantSchema,
  type ViewEnvelope,
  type EveryField,
  type Happened,
} from './view-kind.ts';

/** Grows with every change to the schema below: older documents are folded again. */
export const paymentViewSchemaVersion = 4;

export interface PaymentView extends ViewEnvelope {
  schemaVersion: typeof paymentViewSchemaVersion;
  payment: Payment;
  /** When each open attention was raised, in the order of `payment.attention`, milliseconds since the Unix epoch. */
  reviewsSince: readonly number[];
}

/**
 * The document after the next event.
 *
 * @throws InvariantViolation where events are missing between the document and this one, or the payment rules it out.
 */
export function evolvePaymentView(
  view: PaymentView | undefined,
  happened: Happened<PaymentEvent>,
): PaymentView {
  const { token, recordedAt, revision, position } = happened;
  const createdAt = createdAtOf(view, happened);
  const payment = evolve(view?.payment, happened.event);
  const reviewsSince = reviewsSinceAfter(view?.reviewsSince, {
    before: view?.payment,
    after: payment,
    recordedAt,
  });
  return {
    schemaVersion: paymentViewSchemaVersion,
    token,
    createdAt,
    updatedAt: recordedAt,
    revision,
    position,
    payment,
    reviewsSince,
  };
}

/**
 * The document after one more event of its stream. An event that it has seen already changes nothing.
 *
 * @throws InvariantViolation as {@link evolvePaymentDocument}; z.ZodError or RangeError for an event that no version of
 * ours has written.
 */
export const foldPaymentView = createFold({
  streamPrefix: paymentStreamPrefix,
  decode: decodePaymentEvent,
  evolve: evolvePaymentView,
});

const moneySchema = z.int().min(0);
const endSchema = z.object({
  reason: z.enum(['refused', 'not-sent', 'declined', 'resolved']),
  errors: z.array(apiErrorSchema),
});
const reviewSchema = z.object({
  code: reviewCodeSchema,
  evidence: evidenceSchema,
  number: reviewNumberSchema,
});

const refundSchema = z.object({
  refundToken: z.string(),
  amount: moneySchema,
  fingerprint: z.string(),
  ...callWindowSchema.shape,
  state: z.enum(['submitted', 'unresolved', 'accepted', 'approved', 'declined']),
  serviceRefundToken: z.string().exactOptional(),
  declined: endSchema.exactOptional(),
} satisfies EveryField<Refund>);

const captureOrVoidSchema = z.object({
  operation: z.enum(['confirm', 'decline']),
  number: z.int().min(0),
  repeats: z.int().min(0).exactOptional(),
  ...callWindowSchema.shape,
  state: z.enum(['submitted', 'unresolved', 'refused']),
  refused: endSchema.exactOptional(),
} satisfies EveryField<CaptureOrVoid>);

const paymentSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  terms: termsSchema,
  fingerprint: z.string(),
  phase: z.enum(paymentPhases),
  attempt: attemptSchema,
  serviceToken: z.string().exactOptional(),
  processingUrl: z.string().exactOptional(),
  heldAmount: moneySchema,
  approvedAmount: moneySchema,
  refundedAmount: moneySchema,
  refunds: z.array(refundSchema),
  refundDeclinesReported: z.array(z.string()),
  captureOrVoid: captureOrVoidSchema.exactOptional(),
  recurringToken: z.string().exactOptional(),
  sanitizedMask: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
  failure: z.enum(['refused', 'not-sent', 'not-found', 'resolved']).exactOptional(),
  errors: z.array(apiErrorSchema),
  reviews: z.array(reviewSchema),
  acknowledged: z.array(reviewSchema),
  reviewCount: z.int().min(0),
} satisfies EveryField<Payment>);

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const paymentViewSchema: z.ZodType<PaymentView> = z.object({
  schemaVersion: z.literal(paymentViewSchemaVersion),
  ...envelopeSchema,
  payment: paymentSchema,
  reviewsSince: z.array(instantSchema),
});
