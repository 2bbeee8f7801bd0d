/** The document of one payment: its state, folded from its events. Folding again from zero gives the same bytes. */
import type { Position, RecordedEvent } from '@tollgate/event-store';
import { apiErrorSchema } from '@tollgate/payment-api/values';
import {
  InvariantViolation,
  attemptSchema,
  attentionCodeSchema,
  decodePaymentEvent,
  environmentSchema,
  eventMetadataSchema,
  evolve,
  paymentPhases,
  termsSchema,
  tokenOfPaymentStream,
  type Payment,
} from '@tollgate/payment-domain';
import { z } from 'zod';
import { positionSchema } from './payment-views.ts';

export interface PaymentDocument {
  schemaVersion: 1;
  token: string;
  payment: Payment;
  /** When the first and the last event were decided, milliseconds since the Unix epoch. */
  createdAt: number;
  updatedAt: number;
  /** Of the last event that is in the document, in the payment's stream. */
  revision: number;
  /** Of the last event that is in the document, in the store. */
  position: Position;
}

/**
 * The document after one more event of its stream. An event that it has seen already changes nothing.
 *
 * @throws InvariantViolation where events are missing between the document and this one, or the payment rules it out;
 * z.ZodError or RangeError for an event that no version of ours has written.
 */
export function foldPaymentDocument(
  document: PaymentDocument | undefined,
  event: RecordedEvent,
): PaymentDocument {
  if (document !== undefined && event.revision <= document.revision) return document;
  if (event.revision !== nextRevision(document))
    throw new InvariantViolation('events of a payment are missing');
  const { recordedAt } = eventMetadataSchema.parse(event.metadata);
  return {
    schemaVersion: 1,
    token: document?.token ?? tokenOfPaymentStream(event.stream),
    payment: evolve(document?.payment, decodePaymentEvent(event)),
    createdAt: document?.createdAt ?? recordedAt,
    updatedAt: recordedAt,
    revision: event.revision,
    position: event.position,
  };
}

/** The revision of the event that a document waits for. */
export const nextRevision = (document: PaymentDocument | undefined): number =>
  document === undefined ? 0 : document.revision + 1;

const instantSchema = z.int().min(0).max(8_640_000_000_000_000);
const moneySchema = z.int().min(0);
const evidenceSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

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
  refunds: z.array(
    z.object({
      refundToken: z.string(),
      amount: moneySchema,
      fingerprint: z.string(),
      state: z.enum(['submitted', 'unresolved', 'approved', 'declined']),
    }),
  ),
  sanitizedMask: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
  errors: z.array(apiErrorSchema),
  attention: z.array(z.object({ code: attentionCodeSchema, evidence: evidenceSchema })),
});

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const paymentDocumentSchema: z.ZodType<PaymentDocument> = z.object({
  schemaVersion: z.literal(1),
  token: z.string().min(1),
  payment: paymentSchema,
  createdAt: instantSchema,
  updatedAt: instantSchema,
  revision: z.int().min(0),
  position: positionSchema,
});
