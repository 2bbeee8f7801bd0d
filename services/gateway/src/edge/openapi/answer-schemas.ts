/**
 * The answers of the API. They describe and are never used to answer: an answer comes after its effect, and must not fail
 * because it looks otherwise than was written down. That they are as described is what the end-to-end tests see to, by
 * parsing real answers; so they are strict here, and open in the document, where fields may be added.
 */
import { paymentStatusSchema, paymentStatuses } from '@tollgate/payment-api';
import {
  reviewCodes,
  paymentPhases,
  payoutReviewCodes,
  payoutPhases,
  payoutStatusSchema,
  resolutionSchema,
} from '@tollgate/payment-domain';
import { failureReasons, webhookBodySchema } from '@tollgate/notifier';
import type {
  EveryField,
  PublicCurrencyTotals,
  PublicDispute,
  PublicPayment,
  PublicPayout,
  PublicRefund,
} from '@tollgate/views';
import type { PublicReviewEntry } from '@tollgate/view-index';
import { z } from 'zod';
import { causeSchema, paymentEventSchema, payoutEventSchema } from './event-schemas.ts';
import {
  amountShownSchema,
  destinationSchema,
  errorShownSchema,
  evidenceShownSchema,
  instantShownSchema,
  termsShown,
} from './value-schemas.ts';

const success = z.literal(true);
const paymentToken = z.string().meta({ description: 'The payment.', examples: ['pay_…'] });
const revision = z.int().min(0).describe('Number of its last event, from 0.');
const age = { createdAt: instantShownSchema, updatedAt: instantShownSchema };
const declineReason = z.string().exactOptional();
const sanitizedMask = z
  .string()
  .meta({ description: 'First six and last four digits of the card.', examples: ['439296******1251'] })
  .exactOptional();
const reviewCode = z.enum([...new Set([...reviewCodes, ...payoutReviewCodes])]);
const reviewNumber = z.int().min(1).describe('Which one, counted over the life of it.');
const reviews = z.array(
  z.strictObject({
    code: reviewCode,
    number: reviewNumber,
    since: instantShownSchema,
    evidence: evidenceShownSchema,
  }),
);

const refundFields = {
  token: z.string().meta({ description: 'The refund.', examples: ['ref_…'] }),
  amount: amountShownSchema,
  currency: z.string(),
  status: z.enum(['pending', 'approved', 'declined']),
  phase: z
    .enum(['submitted', 'unresolved', 'accepted', 'approved', 'declined'])
    .describe('`unresolved`: sent, and the outcome is not known yet.'),
  errors: z.array(errorShownSchema).describe('Why nothing was refunded; empty otherwise.'),
} satisfies EveryField<PublicRefund>;
const refundSchema = z.strictObject({ ...refundFields, paymentToken });

export const paymentSchema = z.strictObject({
  token: paymentToken,
  status: paymentStatusSchema.describe("The specification's status."),
  phase: z
    .enum(paymentPhases)
    .describe('What the gateway knows; `unresolved`: sent, and the outcome is not known yet.'),
  ...termsShown,
  processingUrl: z
    .string()
    .exactOptional()
    .describe('The page where your customer pays; only while there is something to do on it.'),
  heldAmount: amountShownSchema,
  approvedAmount: amountShownSchema,
  refundedAmount: amountShownSchema,
  refunds: z.array(z.strictObject(refundFields)),
  reviews: reviews.describe('What waits for a person.'),
  sanitizedMask,
  declineReason,
  errors: z.array(errorShownSchema).describe('Why the creation failed; empty otherwise.'),
  ...age,
  revision,
} satisfies EveryField<PublicPayment>);

const payoutFields = {
  token: z.string().meta({ description: 'The payout.', examples: ['po_…'] }),
  status: payoutStatusSchema,
  phase: z.enum(payoutPhases),
  amount: amountShownSchema,
  currency: z.string(),
  orderNumber: z.string(),
  destination: destinationSchema,
  callbackUrl: z.string().exactOptional(),
  sanitizedMask,
  declineReason,
  reviews: reviews.describe('What waits for a person.'),
  errors: z.array(errorShownSchema).describe('Why the payout failed; empty otherwise.'),
  ...age,
  revision,
} satisfies EveryField<PublicPayout>;
const payoutSchema = z.strictObject(payoutFields);
const listedPayoutSchema = z.strictObject({ ...payoutFields, operationType: z.literal('payout') });

const disputeSchema = z.strictObject({
  id: z.string().describe('What the Payment Service and the bank know it by.'),
  token: paymentToken.exactOptional(),
  amount: amountShownSchema,
  currency: z.string(),
  status: z.string(),
  type: z.string().exactOptional(),
  reasonCode: z.string().exactOptional(),
  comment: z.string().exactOptional(),
  ...age,
} satisfies EveryField<PublicDispute>);

const reviewEntrySchema = z.strictObject({
  token: z.string().describe('The payment or payout.'),
  kind: z.enum(['payment', 'payout']),
  code: reviewCode,
  number: reviewNumber,
  since: instantShownSchema,
  evidence: evidenceShownSchema,
  resolutions: z.array(resolutionSchema).describe('What a person may answer.'),
  orderNumber: z.string().exactOptional(),
  amount: amountShownSchema,
  currency: z.string(),
  status: paymentStatusSchema,
  phase: z.enum(paymentPhases),
} satisfies EveryField<PublicReviewEntry>);

const sumSchema = z.strictObject({ count: z.int().min(0), amount: amountShownSchema });
const sumsBy = <Name extends string>(names: readonly Name[]) =>
  z.strictObject(
    Object.fromEntries(names.map((name) => [name, sumSchema])) as Record<Name, typeof sumSchema>,
  );
const currencyTotalsSchema = z.strictObject({
  currency: z.string(),
  payments: sumsBy(paymentStatuses).describe(
    'By the status of now: what was approved (refunds not taken off), and else what was asked for.',
  ),
  refunds: sumsBy(['confirmed', 'reserved']).describe(
    'Payments of which money was given back, and of which the outcome of a refund is open.',
  ),
  payouts: sumsBy(payoutStatusSchema.options).exactOptional().describe('For keys that may read payouts.'),
} satisfies EveryField<PublicCurrencyTotals>);

const webhookSchema = z.strictObject({
  id: z.string().describe('Sent as `webhook-id`, the same at every try.'),
  url: z.string(),
  body: webhookBodySchema,
  state: z.enum(['open', 'delivered', 'given_up']),
  createdAt: instantShownSchema,
  nextAttemptAt: instantShownSchema
    .exactOptional()
    .describe('Absent where there will be none, and where it is due at once.'),
  deliveries: z.array(
    z.strictObject({
      attempt: z.int().min(1),
      at: instantShownSchema,
      outcome: z.enum(['delivered', 'failed']),
      statusCode: z.int().exactOptional(),
      reason: z.enum(failureReasons).exactOptional(),
    }),
  ),
});

const pageFields = {
  page: z.int().min(1).exactOptional().describe('Absent where a cursor was given.'),
  perPage: z.int().min(1),
  nextCursor: z.string().exactOptional().describe('Leads to the next page; absent on the last one.'),
  totalCount: z.int().min(0).exactOptional().describe('Where `withTotal=true` was asked for.'),
};

const shownPayment = z.union([paymentSchema, listedPayoutSchema]);
const answeredPayment = { success, token: paymentToken, payment: paymentSchema };

/** By the names that they have in the document. */
export const answerSchemas = {
  Payment: paymentSchema,
  Payout: payoutSchema,
  ListedPayout: listedPayoutSchema,
  Refund: refundSchema,
  Dispute: disputeSchema,
  ReviewEntry: reviewEntrySchema,
  CurrencyTotals: currencyTotalsSchema,
  Webhook: webhookSchema,
  Cause: causeSchema,
  PaymentEvent: paymentEventSchema,
  PayoutEvent: payoutEventSchema,
  CreatedPayment: z.strictObject({
    ...answeredPayment,
    processingUrl: z.string().exactOptional().describe('Send your customer there.'),
  }),
  EndedCaptureOrVoidPayment: z.strictObject(answeredPayment),
  PaymentAnswer: z.strictObject({ success, payment: shownPayment }),
  PaymentList: z.strictObject({ success, payments: z.array(shownPayment), ...pageFields }),
  PaymentHistory: z.strictObject({ success, events: z.array(paymentEventSchema) }),
  CreatedRefund: z.strictObject({ success, token: refundFields.token, refund: refundSchema }),
  RefundAnswer: z.strictObject({ success, refund: refundSchema }),
  CreatedPayout: z.strictObject({ success, token: payoutFields.token, payout: payoutSchema }),
  PayoutAnswer: z.strictObject({ success, payout: payoutSchema }),
  PayoutList: z.strictObject({ success, payouts: z.array(payoutSchema), ...pageFields }),
  PayoutHistory: z.strictObject({ success, events: z.array(payoutEventSchema) }),
  Balance: z.strictObject({
    success,
    wallet: z.strictObject({
      currency: z.string(),
      available: z.int().describe('Minor units; over all accounts that take your payments in this currency.'),
      hold: z.int().describe('Minor units.'),
    }),
  }),
  Totals: z.strictObject({
    success,
    from: z.iso.date(),
    to: z.iso.date(),
    days: z
      .array(z.strictObject({ day: z.iso.date(), currencies: z.array(currencyTotalsSchema) }))
      .describe('Days on which something was created, earliest first.'),
    sums: z.array(currencyTotalsSchema).describe('Over all these days, by currency.'),
  }),
  DisputeList: z.strictObject({ success, disputes: z.array(disputeSchema) }),
  ReviewList: z.strictObject({
    success,
    reviews: z.array(reviewEntrySchema),
    ...{ perPage: pageFields.perPage, nextCursor: pageFields.nextCursor },
  }),
  ResolvedReview: z.union([
    z.strictObject(answeredPayment),
    z.strictObject({ success, token: payoutFields.token, payout: payoutSchema }),
  ]),
  WebhookList: z.strictObject({ success, webhooks: z.array(webhookSchema) }),
  ReplayedWebhooks: z.strictObject({
    success,
    webhooks: z.array(z.strictObject({ id: z.string() })),
  }),
  Health: z.strictObject({ status: z.literal('ok') }),
  Readiness: z.strictObject({
    ready: z.boolean(),
    notReady: z.array(z.string()).describe('What is not ready; empty when everything is.'),
    degraded: z.array(z.string()).describe('What does not work now and keeps nobody from being served.'),
    index: z
      .strictObject({
        followed: z.string().describe('Position of the last document that was taken over.'),
        head: z.string().exactOptional().describe('Where the documents ended when the building began.'),
        views: z.int().min(0).describe('How many were taken over since then.'),
      })
      .exactOptional()
      .describe('Only while what lists are answered from is being built.'),
  }),
  Errors: z.strictObject({
    success: z.literal(false),
    errors: z.array(
      z.strictObject({
        code: z.string(),
        kind: z.enum(['api_error', 'authentication_error', 'invalid_request_error', 'processing_error']),
        message: z.string().exactOptional(),
        parameter: z.string().exactOptional().describe('The field or header at fault.'),
      }),
    ),
    token: z.string().exactOptional().describe('What was recorded about it, where something was.'),
  }),
} as const satisfies Record<string, z.ZodType>;

export type AnswerName = keyof typeof answerSchemas;
