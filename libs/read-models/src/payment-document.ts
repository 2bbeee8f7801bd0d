/** The document of one payment. */
import { apiErrorSchema } from '@tollgate/payment-api/values';
import {
  attemptSchema,
  attentionCodeSchema,
  attentionNumberSchema,
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
  type TwoStep,
} from '@tollgate/payment-domain';
import { z } from 'zod';
import { attentionSinceAfter } from './attention-since.ts';
import {
  createFold,
  createdAtOf,
  envelopeSchema,
  instantSchema,
  type DocumentEnvelope,
  type EveryField,
  type Happened,
} from './document-kind.ts';

/** Grows with every change to the schema below: older documents are folded again. */
export const paymentDocumentVersion = 3;

export interface PaymentDocument extends DocumentEnvelope {
  schemaVersion: typeof paymentDocumentVersion;
  payment: Payment;
  /** When each open attention was raised, in the order of `payment.attention`, milliseconds since the Unix epoch. */
  attentionSince: readonly number[];
}

/**
 * The document after the next event.
 *
 * @throws InvariantViolation where events are missing between the document and this one, or the payment rules it out.
 */
export function evolvePaymentDocument(
  document: PaymentDocument | undefined,
  happened: Happened<PaymentEvent>,
): PaymentDocument {
  const { token, recordedAt, revision, position } = happened;
  const createdAt = createdAtOf(document, happened);
  const payment = evolve(document?.payment, happened.event);
  const attentionSince = attentionSinceAfter(document?.attentionSince, {
    before: document?.payment,
    after: payment,
    recordedAt,
  });
  return {
    schemaVersion: paymentDocumentVersion,
    token,
    createdAt,
    updatedAt: recordedAt,
    revision,
    position,
    payment,
    attentionSince,
  };
}

/**
 * The document after one more event of its stream. An event that it has seen already changes nothing.
 *
 * @throws InvariantViolation as {@link evolvePaymentDocument}; z.ZodError or RangeError for an event that no version of
 * ours has written.
 */
export const foldPaymentDocument = createFold({
  streamPrefix: paymentStreamPrefix,
  decode: decodePaymentEvent,
  evolve: evolvePaymentDocument,
});

const moneySchema = z.int().min(0);
const endSchema = z.object({
  reason: z.enum(['refused', 'not-sent', 'declined', 'resolved']),
  errors: z.array(apiErrorSchema),
});
const attentionSchema = z.object({
  code: attentionCodeSchema,
  evidence: evidenceSchema,
  number: attentionNumberSchema,
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

const twoStepSchema = z.object({
  operation: z.enum(['confirm', 'decline']),
  number: z.int().min(0),
  repeats: z.int().min(0).exactOptional(),
  ...callWindowSchema.shape,
  state: z.enum(['submitted', 'unresolved', 'refused']),
  refused: endSchema.exactOptional(),
} satisfies EveryField<TwoStep>);

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
  refundDeclinesTold: z.array(z.string()),
  twoStep: twoStepSchema.exactOptional(),
  recurringToken: z.string().exactOptional(),
  sanitizedMask: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
  failure: z.enum(['refused', 'not-sent', 'not-found', 'resolved']).exactOptional(),
  errors: z.array(apiErrorSchema),
  attention: z.array(attentionSchema),
  acknowledged: z.array(attentionSchema),
  attentionCount: z.int().min(0),
} satisfies EveryField<Payment>);

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const paymentDocumentSchema: z.ZodType<PaymentDocument> = z.object({
  schemaVersion: z.literal(paymentDocumentVersion),
  ...envelopeSchema,
  payment: paymentSchema,
  attentionSince: z.array(instantSchema),
});
