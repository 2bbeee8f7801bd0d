/**
 * The events of a payment (stream `payment-<token>`). They are the only record of what happened; a changed event is a
 * new schema version with an upcaster, never an edit of a stored one. Times are milliseconds since the Unix epoch.
 */
import { amountSchema, currencySchema, paymentStatusSchema } from '../money.ts';
import { z } from 'zod';
import { callWindowSchema, endReasons } from '../outbound-call/outbound-call.ts';
import { callbackDeferredSchema, callbackInquiredSchema } from '../deferred-callback.ts';
import { metadataSchema } from '../metadata.ts';
import { reviewResolutionProposedSchema, reviewOpenedSchema, reviewResolvedSchema } from '../review.ts';
import { type EventOf, eventFamily } from '@tollgate/event-store/schema-version';
import { environmentSchema, errorsSchema, instantSchema, textSchema, unconfirmedSchema } from '../values.ts';

/** The team's request, without the customer's data. `orderNumber` is the team's own and is not sent to the provider. */
export const termsSchema = z.object({
  kind: z.enum(['hosted', 'card', 'recurring']),
  product: textSchema,
  amount: amountSchema,
  currency: currencySchema,
  orderNumber: textSchema.optional(),
  callbackUrl: textSchema.optional(),
  redirectSuccessUrl: textSchema.optional(),
  redirectFailUrl: textSchema.optional(),
  locale: textSchema.optional(),
  needConfirmation: z.boolean(),
  /** True if the team requests a recurring token. */
  recurring: z.boolean().optional(),
  /** Our alias of the charged recurring token. */
  recurringToken: textSchema.optional(),
  metadata: metadataSchema.optional(),
});
export type PaymentTerms = z.infer<typeof termsSchema>;

/** One announced call that creates the payment at the Payment Service. */
export const attemptSchema = z.object({
  /** From 1. */
  number: z.int().min(1),
  /** The merchant account. */
  account: textSchema,
  /** Unique per attempt; finds an attempt whose answer was lost. */
  providerOrderNumber: textSchema,
  ...callWindowSchema.shape,
});
export type Attempt = z.infer<typeof attemptSchema>;

const attemptNumberSchema = z.int().min(1);
const sumSchema = z.int().min(0);
const refusedCall = { errors: errorsSchema, reason: z.enum(endReasons) };
const unresolvedCall = { reason: textSchema };

/** The refunded sum before our refund was not known: its growth proves nothing. */
export const sumUnknownSchema = z.literal(true);

/** The current report of the bank. */
const disputeShape = {
  disputeToken: textSchema,
  /** In the payment's currency, and at most the payment's amount; all of it if the bank names another currency. */
  amount: amountSchema,
  /** Revision of the dispute's own stream at the read; earlier reads change nothing. */
  revision: z.int().min(0),
};

export const reviewCodes = [
  'attempt_not_found',
  'discrepancy',
  'refund_unresolved',
  'service_not_readable',
  'capture_unresolved',
  'void_unresolved',
  'dispute_opened',
] as const;
export const reviewCodeSchema = z.enum(reviewCodes);
export type ReviewCode = z.infer<typeof reviewCodeSchema>;

/** Why nothing was charged. `resolved`: a person confirmed it. */
export const paymentFailureSchema = z.enum(['refused', 'not-sent', 'not-found', 'resolved']);

/** Data of each event type, as stored. */
export const paymentEventSchemas = {
  PaymentRequested: z.object({
    environment: environmentSchema,
    team: textSchema,
    /** The permanent owner of the money: the team's wallet at the time, as `walletNameOf` named it. */
    wallet: textSchema,
    askedBy: textSchema,
    terms: termsSchema,
    /** Keyed hash over the validated request, `<kid>.<mac>`: distinguishes a replay from another request under the same key. */
    fingerprint: textSchema,
    attempt: attemptSchema,
  }),
  /** Made before Tollgate, and adopted by a team with the provider's record of that time, without a call. */
  PaymentAdopted: z.object({
    environment: environmentSchema,
    team: textSchema,
    wallet: textSchema,
    /** Set if its money may be paid out: an operator declares from which day adopted payments count. */
    payable: z.literal(true).exactOptional(),
    account: textSchema,
    /** As far as the provider shows them. */
    terms: termsSchema,
    serviceToken: textSchema,
    /** Its order number at the provider; absent if not shown. */
    providerOrderNumber: textSchema.optional(),
    processingUrl: textSchema.optional(),
    /** Creation time at the provider; absent if not shown. */
    createdAt: instantSchema.optional(),
    status: paymentStatusSchema,
    authorizedAmount: sumSchema,
    refundedAmount: sumSchema,
    /** Our alias of the recurring token in the record. */
    recurringToken: textSchema.optional(),
    sanitizedMask: textSchema.optional(),
    declineReason: textSchema.optional(),
  }),
  /** Its money may be paid out from now on. */
  AdoptionDeclaredPayable: z.object({}),
  AttemptAccepted: z.object({
    attemptNumber: attemptNumberSchema,
    serviceToken: textSchema,
    processingUrl: textSchema.optional(),
    /** Source: the call's own answer, or a status inquiry. */
    evidence: z.enum(['answer', 'inquiry']),
  }),
  AttemptRefused: z.object({ attemptNumber: attemptNumberSchema, errors: errorsSchema }),
  AttemptNotSent: z.object({ attemptNumber: attemptNumberSchema, reason: textSchema }),
  AttemptUnresolved: z.object({
    attemptNumber: attemptNumberSchema,
    reason: textSchema,
    errors: unconfirmedSchema,
  }),
  AttemptNotFound: z.object({ attemptNumber: attemptNumberSchema }),
  AttemptStarted: z.object({ attempt: attemptSchema }),
  PaymentPending: z.object({}),
  PaymentAuthorized: z.object({ authorizedAmount: amountSchema, sanitizedMask: textSchema.optional() }),
  PaymentApproved: z.object({ amount: amountSchema, sanitizedMask: textSchema.optional() }),
  PaymentDeclined: z.object({ declineReason: textSchema.optional(), sanitizedMask: textSchema.optional() }),
  /** The team voided the authorized money. */
  PaymentVoided: z.object({ sanitizedMask: textSchema.optional() }),
  PaymentExpired: z.object({}),
  PaymentFailed: z.object({ reason: paymentFailureSchema }),
  CaptureSubmitted: callWindowSchema,
  CaptureRefused: z.object(refusedCall),
  CaptureUnresolved: z.object(unresolvedCall),
  VoidSubmitted: callWindowSchema,
  VoidRefused: z.object(refusedCall),
  VoidUnresolved: z.object(unresolvedCall),
  RefundSubmitted: z.object({
    refundToken: textSchema,
    amount: amountSchema,
    /** The requesting key, and the time. */
    askedBy: textSchema,
    askedAt: instantSchema,
    fingerprint: textSchema,
    metadata: metadataSchema.exactOptional(),
    sumUnknown: sumUnknownSchema.exactOptional(),
    ...callWindowSchema.shape,
  }),
  /** The provider has accepted the refund and not decided it. */
  RefundAccepted: z.object({ refundToken: textSchema, serviceRefundToken: textSchema }),
  RefundApproved: z.object({
    refundToken: textSchema,
    /** The provider's token, if the approval was in the call's own answer. */
    serviceRefundToken: textSchema.optional(),
  }),
  RefundDeclined: z.object({ refundToken: textSchema, ...refusedCall }),
  RefundUnresolved: z.object({ refundToken: textSchema, ...unresolvedCall, errors: unconfirmedSchema }),
  ExternalRefundObserved: z.object({ amount: amountSchema }),
  FinalStatusRevised: z.object({
    from: paymentStatusSchema,
    to: z.enum(['approved', 'declined', 'expired', 'refunded']),
    /** The provider's approved and refunded sums after a revision to `approved` or `refunded`. */
    amount: amountSchema.optional(),
    refundedAmount: sumSchema.optional(),
    declineReason: textSchema.optional(),
    /** The provider's token, if the payment had failed and so had none. */
    serviceToken: textSchema.optional(),
  }),
  /** The customer's bank demands money back, for the first time or again. */
  DisputeOpened: z.object(disputeShape),
  DisputeChanged: z.object(disputeShape),
  /** The merchant keeps the money. */
  DisputeWon: z.object(disputeShape),
  /** The customer has the money. */
  DisputeLost: z.object(disputeShape),
  /** The provider issued a recurring token; teams use this alias of it. */
  RecurringTokenIssued: z.object({ recurringToken: textSchema }),
  /** A callback arrived while its subject could not be inquired; the inquiry schedule takes over. */
  CallbackDeferred: callbackDeferredSchema,
  /** The provider's token of a deferred callback has been inquired. */
  CallbackInquired: callbackInquiredSchema,
  ReviewOpened: reviewOpenedSchema(reviewCodeSchema),
  /** The first of two people has answered the review. */
  ReviewResolutionProposed: reviewResolutionProposedSchema(reviewCodeSchema),
  ReviewResolved: reviewResolvedSchema(reviewCodeSchema),
} as const;

export type PaymentEventType = keyof typeof paymentEventSchemas;
export type PaymentEvent = EventOf<typeof paymentEventSchemas>;
export type PaymentEventOf<Type extends PaymentEventType> = Extract<PaymentEvent, { type: Type }>;

export const paymentStream = (token: string): string => `payment-${token}`;
export const paymentStreamPrefix = 'payment-';
export const tokenOfPaymentStream = (stream: string): string => stream.slice(paymentStreamPrefix.length);

export const { decode: decodePaymentEvent, versionOf: versionOfPaymentEvent } =
  eventFamily(paymentEventSchemas);
