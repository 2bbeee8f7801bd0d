/** The document of one payout. */
import { apiErrorSchema } from '@tollgate/payment-api/values';
import {
  attentionNumberSchema,
  decodePayoutEvent,
  environmentSchema,
  evidenceSchema,
  evolvePayout,
  payoutAttentionCodeSchema,
  payoutCallSchema,
  payoutFailureSchema,
  payoutPhases,
  payoutStreamPrefix,
  payoutTermsSchema,
  type Payout,
  type PayoutEvent,
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
export const payoutDocumentVersion = 2;

export interface PayoutDocument extends DocumentEnvelope {
  schemaVersion: typeof payoutDocumentVersion;
  payout: Payout;
  /** When each open attention was raised, in the order of `payout.attention`, milliseconds since the Unix epoch. */
  attentionSince: readonly number[];
}

/**
 * The document after the next event.
 *
 * @throws InvariantViolation where events are missing between the document and this one, or the payout rules it out.
 */
export function evolvePayoutDocument(
  document: PayoutDocument | undefined,
  happened: Happened<PayoutEvent>,
): PayoutDocument {
  const { token, recordedAt, revision, position } = happened;
  const createdAt = createdAtOf(document, happened);
  const payout = evolvePayout(document?.payout, happened.event);
  const attentionSince = attentionSinceAfter(document?.attentionSince, {
    before: document?.payout,
    after: payout,
    recordedAt,
  });
  return {
    schemaVersion: payoutDocumentVersion,
    token,
    createdAt,
    updatedAt: recordedAt,
    revision,
    position,
    payout,
    attentionSince,
  };
}

/** As `foldPaymentDocument`, of a payout. */
export const foldPayoutDocument = createFold({
  streamPrefix: payoutStreamPrefix,
  decode: decodePayoutEvent,
  evolve: evolvePayoutDocument,
});

const attentionSchema = z.object({
  code: payoutAttentionCodeSchema,
  evidence: evidenceSchema,
  number: attentionNumberSchema,
});

const payoutSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  terms: payoutTermsSchema,
  fingerprint: z.string(),
  phase: z.enum(payoutPhases),
  call: payoutCallSchema,
  serviceToken: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
  failure: payoutFailureSchema.exactOptional(),
  errors: z.array(apiErrorSchema),
  attention: z.array(attentionSchema),
  acknowledged: z.array(attentionSchema),
  attentionCount: z.int().min(0),
} satisfies EveryField<Payout>);

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const payoutDocumentSchema: z.ZodType<PayoutDocument> = z.object({
  schemaVersion: z.literal(payoutDocumentVersion),
  ...envelopeSchema,
  payout: payoutSchema,
  attentionSince: z.array(instantSchema),
});
