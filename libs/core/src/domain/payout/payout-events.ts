/**
 * The events of a payout (stream `payout-<token>`). They are the only record of what happened; a changed event is a
 * new schema version with an upcaster, never an edit of a stored one. Times are milliseconds since the Unix epoch.
 */
import { amountSchema, currencySchema } from '../money.ts';
import { z } from 'zod';
import { callWindowSchema } from '../outbound-call/outbound-call.ts';
import { callbackDeferredSchema, callbackInquiredSchema } from '../deferred-callback.ts';
import { metadataSchema } from '../metadata.ts';
import { reviewResolutionProposedSchema, reviewOpenedSchema, reviewResolvedSchema } from '../review.ts';
import { type EventOf, eventFamily } from '@tollgate/event-store/schema-version';
import { environmentSchema, errorsSchema, instantSchema, textSchema, unconfirmedSchema } from '../values.ts';

/** The states of a payout: those of a payment (specification, section 3) that it can have (open point 22). */
export const payoutStatuses = ['pending', 'approved', 'declined'] as const;
export const payoutStatusSchema = z.enum(payoutStatuses);
export type PayoutStatus = z.infer<typeof payoutStatusSchema>;

/** The destination, as far as it may be stored: enough to identify the card or account, not enough to pay to it. */
export const payoutDestinationSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('card'),
    /** First six and last four digits; of up to 14 digits only the last four. Anything longer cannot be recorded. */
    sanitizedMask: z
      .string()
      .regex(/^(\d{6}\*{5,9}|\*{1,15})\d{4}$/, 'must show first six and last four digits only'),
  }),
  z.object({
    kind: z.literal('recurring'),
    /** Our alias of the destination's recurring token. */
    recurringToken: textSchema,
  }),
  z.object({
    kind: z.literal('bankAccount'),
    bankName: textSchema,
    /** The last four characters. */
    accountEnding: z.string().max(4),
  }),
]);
export type PayoutDestination = z.infer<typeof payoutDestinationSchema>;

/** The team's request. `orderNumber` is the team's own and is not sent to the provider. */
export const payoutTermsSchema = z.object({
  amount: amountSchema,
  currency: currencySchema,
  orderNumber: textSchema,
  destination: payoutDestinationSchema,
  callbackUrl: textSchema.optional(),
  metadata: metadataSchema.optional(),
});
export type PayoutTerms = z.infer<typeof payoutTermsSchema>;

/** The only announced call that makes the payout at the Payment Service. */
export const payoutCallSchema = z.object({
  /** The merchant account. */
  account: textSchema,
  /** Unique per payout; finds a payout whose answer was lost. */
  providerOrderNumber: textSchema,
  ...callWindowSchema.shape,
});
export type PayoutCall = z.infer<typeof payoutCallSchema>;

export const payoutReviewCodes = ['discrepancy', 'payout_not_found', 'service_not_readable'] as const;
export const payoutReviewCodeSchema = z.enum(payoutReviewCodes);
export type PayoutReviewCode = z.infer<typeof payoutReviewCodeSchema>;

/** Why nothing was paid out. `resolved`: a person confirmed it; the last two: it was never sent. */
export const payoutFailureSchema = z.enum([
  'refused',
  'not-sent',
  'resolved',
  'approval-refused',
  'approval-lapsed',
]);

const requestShape = {
  environment: environmentSchema,
  team: textSchema,
  /** The source wallet: the team's at the time, as `walletNameOf` named it. */
  wallet: textSchema,
  /** The requesting key, which can never approve it. */
  askedBy: textSchema,
  terms: payoutTermsSchema,
  /** Keyed hash over the validated request, `<kid>.<mac>`: distinguishes a replay from another request under the same key. */
  fingerprint: textSchema,
};

/** Data of each event type, as stored. */
export const payoutEventSchemas = {
  /** A second key must approve it before it is announced; its amount is reserved in this account meanwhile. */
  PayoutApprovalRequested: z.object({
    ...requestShape,
    ...payoutCallSchema.pick({ account: true, providerOrderNumber: true }).shape,
    lapsesAt: instantSchema,
  }),
  /** The team repeats its request to send it, because its destination is not stored. */
  PayoutApprovalGranted: z.object({ grantedBy: textSchema, lapsesAt: instantSchema }),
  PayoutApprovalRefused: z.object({ refusedBy: textSchema, reason: textSchema }),
  PayoutRequested: z.object({ ...requestShape, call: payoutCallSchema }),
  PayoutAccepted: z.object({
    serviceToken: textSchema,
    /** Source: the call's own answer, or a status inquiry. */
    evidence: z.enum(['answer', 'inquiry']),
  }),
  PayoutRefused: z.object({ errors: errorsSchema }),
  PayoutNotSent: z.object({ reason: textSchema }),
  PayoutUnresolved: z.object({ reason: textSchema, errors: unconfirmedSchema }),
  PayoutApproved: z.object({}),
  PayoutDeclined: z.object({ declineReason: textSchema.optional() }),
  PayoutFailed: z.object({ reason: payoutFailureSchema }),
  FinalStatusRevised: z.object({
    from: z.enum(['approved', 'declined']),
    /** `pending` if a failed payout, or one that a person resolved as undone, is found undecided at the provider. */
    to: payoutStatusSchema,
    declineReason: textSchema.optional(),
    /** The provider's token, if the payout had failed and so had none. */
    serviceToken: textSchema.optional(),
  }),
  /** A callback arrived while its subject could not be inquired; the inquiry schedule takes over. */
  CallbackDeferred: callbackDeferredSchema,
  /** The provider's token of a deferred callback has been inquired. */
  CallbackInquired: callbackInquiredSchema,
  ReviewOpened: reviewOpenedSchema(payoutReviewCodeSchema),
  /** The first of two people has answered the review. */
  ReviewResolutionProposed: reviewResolutionProposedSchema(payoutReviewCodeSchema),
  ReviewResolved: reviewResolvedSchema(payoutReviewCodeSchema),
} as const;

export type PayoutEventType = keyof typeof payoutEventSchemas;
export type PayoutEvent = EventOf<typeof payoutEventSchemas>;
export type PayoutEventOf<Type extends PayoutEventType> = Extract<PayoutEvent, { type: Type }>;

export const payoutStreamPrefix = 'payout-';
export const payoutStream = (token: string): string => `${payoutStreamPrefix}${token}`;
export const tokenOfPayoutStream = (stream: string): string => stream.slice(payoutStreamPrefix.length);

export const { decode: decodePayoutEvent, versionOf: versionOfPayoutEvent } = eventFamily(payoutEventSchemas);
