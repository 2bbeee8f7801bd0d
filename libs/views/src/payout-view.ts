/** The document of one payout. */
import { apiErrorSchema } from '@tollgate/payment-api/values';
import {
  reviewNumberSchema,
  decodePayoutEvent,
  environmentSchema,
  evidenceSchema,
  evolvePayout,
  payoutReviewCodeSchema,
  payoutCallSchema,
  payoutFailureSchema,
  payoutPhases,
  payoutStreamPrefix,
  payoutTermsSchema,
  type Payout,
  type PayoutEvent,
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
export const payoutViewSchemaVersion = 3;

export interface PayoutView extends ViewEnvelope {
  schemaVersion: typeof payoutViewSchemaVersion;
  payout: Payout;
  /** When each open attention was raised, in the order of `payout.attention`, milliseconds since the Unix epoch. */
  reviewsSince: readonly number[];
}

/**
 * The document after the next event.
 *
 * @throws InvariantViolation where events are missing between the document and this one, or the payout rules it out.
 */
export function evolvePayoutView(view: PayoutView | undefined, happened: Happened<PayoutEvent>): PayoutView {
  const { token, recordedAt, revision, position } = happened;
  const createdAt = createdAtOf(view, happened);
  const payout = evolvePayout(view?.payout, happened.event);
  const reviewsSince = reviewsSinceAfter(view?.reviewsSince, {
    before: view?.payout,
    after: payout,
    recordedAt,
  });
  return {
    schemaVersion: payoutViewSchemaVersion,
    token,
    createdAt,
    updatedAt: recordedAt,
    revision,
    position,
    payout,
    reviewsSince,
  };
}

/** As `foldPaymentDocument`, of a payout. */
export const foldPayoutView = createFold({
  streamPrefix: payoutStreamPrefix,
  decode: decodePayoutEvent,
  evolve: evolvePayoutView,
});

const reviewSchema = z.object({
  code: payoutReviewCodeSchema,
  evidence: evidenceSchema,
  number: reviewNumberSchema,
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
  reviews: z.array(reviewSchema),
  acknowledged: z.array(reviewSchema),
  reviewCount: z.int().min(0),
} satisfies EveryField<Payout>);

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const payoutViewSchema: z.ZodType<PayoutView> = z.object({
  schemaVersion: z.literal(payoutViewSchemaVersion),
  ...envelopeSchema,
  payout: payoutSchema,
  reviewsSince: z.array(instantSchema),
});
