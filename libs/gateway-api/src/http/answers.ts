/**
 * The answers of the API. These schemas only describe: an answer follows its effect, and must not fail for differing from a
 * description. The end-to-end tests parse real answers strictly.
 */
import { paymentStatuses } from '@tollgate/core/money';
import { payoutStatusSchema } from '@tollgate/core';
import { z } from 'zod';
import { publicDispute, specifiedDispute } from '../dispute.ts';
import { ledgerAmounts, publicJournalEntry, statementSchema } from '../journal.ts';
import { publicPayment } from '../payment.ts';
import { listedPayoutSchema, payoutToken, publicPayout } from '../payout.ts';
import { publicDifferenceSchema, publicReconciliationSchema } from '../reconciliation.ts';
import { paymentRefundSchema, paymentToken, refundSchema, refundToken } from '../refund.ts';
import { requestSchema } from '../request.ts';
import { reviewEntrySchema, reviewSchema } from '../review.ts';
import { currency, publicError, sum } from '../values.ts';
import { webhookEndpointSchema } from '../webhook-endpoint.ts';
import { webhookBodySchema, webhookSchema } from '../webhook.ts';
import { causeSchema, paymentEventSchema, payoutEventSchema } from './history.ts';
import { operatorAnswerSchemas } from './operator-answers.ts';
import { answer, page, pageOf } from './answer-parts.ts';

const paymentSchema = publicPayment.answer;
const payoutSchema = publicPayout.answer;
const disputeSchema = publicDispute.answer;

const sumSchema = z.object({ count: z.int().min(0), amount: sum });
const sumsBy = <Name extends string>(names: readonly Name[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, sumSchema])) as Record<Name, typeof sumSchema>);
const currencyTotalsSchema = z.object({
  currency,
  payments: sumsBy(paymentStatuses).describe(
    'By current status: the approved amount (refunds not deducted), or else the requested amount.',
  ),
  refunds: sumsBy(['confirmed', 'reserved']).describe(
    '`confirmed`: payments with refunded money; `reserved`: payments with a refund whose outcome is open.',
  ),
  payouts: sumsBy(payoutStatusSchema.options)
    .exactOptional()
    .describe('Only for keys that may read payouts.'),
});

const countedPage = {
  ...page,
  totalCount: z.int().min(0).exactOptional().describe('Present when `withTotal=true` was sent.'),
};

const shownPayment = z.union([paymentSchema, listedPayoutSchema]);
const answeredPayment = { token: paymentToken, payment: paymentSchema };

/** Absent if payouts use the provider's balance. */
const part = (what: string) => z.int().exactOptional().describe(`Of \`hold\`: ${what}.`);

/** By their names in the OpenAPI document. */
export const answerSchemas = {
  Payment: paymentSchema,
  PaymentOrPayout: shownPayment,
  PaymentRefund: paymentRefundSchema,
  Review: reviewSchema,
  ProviderError: publicError,
  Payout: payoutSchema,
  Refund: refundSchema,
  Dispute: disputeSchema,
  ReviewEntry: reviewEntrySchema,
  CurrencyTotals: currencyTotalsSchema,
  Webhook: webhookSchema,
  WebhookBody: webhookBodySchema,
  Cause: causeSchema,
  PaymentEvent: paymentEventSchema,
  PayoutEvent: payoutEventSchema,
  CreatedPayment: answer({
    ...answeredPayment,
    processingUrl: z.string().exactOptional().describe('Redirect your customer to it.'),
  }),
  EndedCaptureOrVoidPayment: answer(answeredPayment),
  PaymentAnswer: answer({ payment: shownPayment }),
  PaymentList: answer({ payments: z.array(shownPayment), ...countedPage }),
  PaymentHistory: answer({ events: z.array(paymentEventSchema) }),
  CreatedRefund: answer({ token: refundToken, refund: refundSchema }),
  RefundList: answer({ refunds: z.array(refundSchema), ...countedPage }),
  RefundAnswer: answer({ refund: refundSchema }),
  CreatedPayout: answer({ token: payoutToken, payout: payoutSchema }),
  PayoutAnswer: answer({ payout: payoutSchema }),
  CheckedDestination: answer({
    isSame: z.boolean().describe('True if the payout goes to this bank account.'),
  }),
  PayoutList: answer({ payouts: z.array(payoutSchema), ...countedPage }),
  PayoutHistory: answer({ events: z.array(payoutEventSchema) }),
  Balance: answer({
    wallet: z.object({
      currency,
      available: z
        .int()
        .describe('Can be paid out now, in minor units. Negative if refunds exceed the rest.'),
      hold: z.int().describe('The rest of the wallet, in minor units.'),
      reserved: part('payouts and refunds without an outcome, or awaiting approval'),
      disputed: part('under a dispute or a discrepancy'),
      notSettled: part('the Payment Service does not report it as available yet'),
    }),
  }),
  Totals: answer({
    dateFrom: z.iso.date().describe('The first day.'),
    dateTo: z.iso.date().describe('The last day.'),
    days: z
      .array(z.object({ day: z.iso.date(), currencies: z.array(currencyTotalsSchema) }))
      .describe('Days with at least one payment or payout, earliest first.'),
    sums: z.array(currencyTotalsSchema).describe('Sums over all these days, by currency.'),
  }),
  LatestDisputes: answer({ disputes: z.array(specifiedDispute) }),
  DisputeList: answer({ disputes: z.array(disputeSchema), ...countedPage }),
  DisputeAnswer: answer({ dispute: disputeSchema }),
  LedgerAmounts: ledgerAmounts,
  JournalEntry: publicJournalEntry,
  Statement: statementSchema,
  Journal: pageOf({ entries: z.array(publicJournalEntry) }),
  StatementList: answer({
    month: z.string(),
    statements: z.array(statementSchema).describe('One for each wallet, merchant account and currency.'),
  }),
  ReviewList: pageOf({ reviews: z.array(reviewEntrySchema) }),
  ResolvedReview: z.union([
    answer(answeredPayment),
    answer({ token: payoutToken, payout: payoutSchema }),
    answer({ token: z.string().describe('Operations that only the Payment Service has.') }),
  ]),
  EventFeed: answer({
    events: z.array(
      z.object({
        cursor: z.string().describe('Send it as `cursor` to continue after this record.'),
        topic: z.string(),
        type: z.string().describe('`ce_type`, for example `tollgate.payment.approved.v1`.'),
        record: z
          .looseObject({ event: z.looseObject({ id: z.string(), type: z.string(), sequence: z.int() }) })
          .describe('The value of the record, as the AsyncAPI document describes it.'),
      }),
    ),
    cursor: z.string().describe('Send it as `cursor` to continue after this page.'),
    isAtEnd: z
      .boolean()
      .describe(
        'False if there may be more events: request the next page. After a start, the first request may collect events for a moment.',
      ),
  }),
  RequestList: pageOf({ requests: z.array(requestSchema) }),
  RequestAnswer: answer({ request: requestSchema }),
  ReconciliationList: pageOf({ reconciliations: z.array(publicReconciliationSchema) }),
  ReconciliationAnswer: answer({
    reconciliation: publicReconciliationSchema.extend({ differences: z.array(publicDifferenceSchema) }),
  }),
  WebhookEndpoint: webhookEndpointSchema,
  WebhookEndpointList: answer({ endpoints: z.array(webhookEndpointSchema) }),
  WebhookEndpointAnswer: answer({ endpoint: webhookEndpointSchema }),
  CreatedWebhookEndpoint: answer({
    endpoint: webhookEndpointSchema,
    secret: z.string().describe('`whsec_…`, for Standard Webhooks. It is shown only here.'),
  }),
  WebhookList: pageOf({ webhooks: z.array(webhookSchema) }),
  ReplayedWebhooks: answer({
    replayed: z.int().min(0).describe('Number of webhooks that are sent again.'),
    nextCursor: z.string().exactOptional().describe('Send it as `cursor` to continue.'),
  }),
  SentTest: answer({ id: z.string().describe('Id of the webhook, sent as `webhook-id`.') }),
  ...operatorAnswerSchemas,
  Health: z.object({ status: z.literal('ok') }),
  Readiness: z.object({
    ready: z.boolean(),
    notReady: z.array(z.string()).describe('Parts that are not ready; empty when the gateway is ready.'),
    degraded: z.array(z.string()).describe('Parts that do not work now, without affecting readiness.'),
    index: z
      .object({
        followed: z.string().describe('Position of the last event in the index.'),
        head: z.string().describe('Position at which the store ended when the rebuild began.'),
        events: z.int().min(0).describe('Events applied since then.'),
      })
      .exactOptional()
      .describe('Present only while the list index is rebuilding.'),
  }),
  Errors: z.object({
    success: z.literal(false),
    errors: z.array(
      z.object({
        code: z.string(),
        kind: z.enum(['api_error', 'authentication_error', 'invalid_request_error', 'processing_error']),
        message: z.string().exactOptional(),
        parameter: z.string().exactOptional().describe('The field or header at fault.'),
        docUrl: z.string().describe('Path of the explanation of the code, on the gateway.'),
      }),
    ),
    requestId: z.string().describe('The `Request-Id` of this answer.'),
    token: z.string().exactOptional().describe('The recorded payment, refund or payout, if there is one.'),
  }),
} as const satisfies Record<string, z.ZodType>;

export type AnswerName = keyof typeof answerSchemas;
export type AnswerOf<Name extends AnswerName> = z.infer<(typeof answerSchemas)[Name]>;
