/** Answers of the routes across teams, for operators. */
import { environmentSchema, paymentPhases, payoutPhases } from '@tollgate/core';
import { z } from 'zod';
import { publicJournalEntry, statementSchema, walletBalanceSchema } from '../journal.ts';
import { publicPayment } from '../payment.ts';
import { publicPayout } from '../payout.ts';
import { publicDifferenceSchema, publicReconciliationSchema } from '../reconciliation.ts';
import { oneOf } from '../public-object.ts';
import { requestSchema } from '../request.ts';
import { disputeOwner, publicDispute } from '../dispute.ts';
import { refundSchema } from '../refund.ts';
import { reviewEntrySchema } from '../review.ts';
import { webhookEndpointSchema } from '../webhook-endpoint.ts';
import { webhookSchema } from '../webhook.ts';
import { instant } from '../values.ts';
import { accountAnswerSchemas } from './account-answers.ts';
import { credentialAnswerSchemas } from './credential-answers.ts';
import { teamAnswerSchemas } from './team-answers.ts';
import { answer, pageOf } from './answer-parts.ts';

const owner = { team: z.string(), environment: z.enum(environmentSchema.options) };
const ownedPayment = publicPayment.answer.extend({ ...owner, account: z.string() });

const ownedEntry = publicJournalEntry.extend({
  environment: owner.environment,
  team: owner.team.exactOptional().describe('Absent for a transfer of a shared wallet.'),
});
const ownedStatement = statementSchema.extend({ environment: owner.environment });
const walletBalance = walletBalanceSchema.extend({ environment: owner.environment });

const ownedReconciliation = publicReconciliationSchema.extend({
  environment: owner.environment,
  team: z.string().exactOptional().describe('The only team whose objects were compared.'),
});

const actor = z.looseObject({
  kind: z.string(),
  name: z.string().exactOptional(),
  team: z.string().exactOptional(),
  keyId: z.string().exactOptional(),
});

const operatorActions = ['capture', 'void', 'refund', 'inquire'] as const;

const spread = (description: string) =>
  z
    .object({ p50: z.number().min(0), p99: z.number().min(0) })
    .exactOptional()
    .describe(
      `${description}, milliseconds, within a tenth, as counted by the answering instance since its start.`,
    );

const overviewHour = z.object({
  hour: instant,
  created: z.int().min(0),
  approved: z.int().min(0).describe('Approved until now, including refunded ones.'),
  declined: z.int().min(0),
  openReviews: z.int().min(0).describe('Reviews opened by the end of this hour and still open now.'),
  ownMs: spread('Time of the gateway for a creation'),
  providerMs: spread('Time of the Payment Service for a creation'),
});

const searchHit = z.object({
  kind: z.enum(['payment', 'refund', 'payout', 'dispute', 'key', 'team']),
  id: z.string().describe('Its token, the id of the key, or the name of the team.'),
  why: z
    .enum(['token', 'service-token', 'request', 'order-number', 'card', 'name'])
    .describe('The property that matches.'),
  isWhole: z.boolean().describe('False if the text is only the beginning of it.'),
  team: z.string().exactOptional(),
  environment: owner.environment.exactOptional(),
  orderNumber: z.string().exactOptional(),
  amount: z.int().exactOptional(),
  currency: z.string().exactOptional(),
  phase: z.string().exactOptional(),
  paymentToken: z.string().exactOptional().describe('The payment of a refund or dispute.'),
  createdAt: instant.exactOptional(),
});
export type SearchHit = z.infer<typeof searchHit>;

const ownedPayout = publicPayout.answer.extend(owner);
const ownedRefund = refundSchema.extend(owner);
const ownedDispute = publicDispute.answer.extend(disputeOwner);

export const operatorAnswerSchemas = {
  OwnedPayment: ownedPayment,
  OwnedPayout: ownedPayout,
  OwnedRefund: ownedRefund,
  OwnedDispute: ownedDispute,
  OperatorPaymentList: pageOf({ payments: z.array(ownedPayment) }),
  OperatorPayment: answer({
    payment: ownedPayment,
    machine: z
      .object({ lifecycle: z.string(), refund: z.string() })
      .describe('The state of the state machine, by its own names.'),
    call: z
      .object({ operation: z.string(), sendBy: instant, answerBy: instant, quietUntil: instant })
      .exactOptional()
      .describe('The outbound call without an outcome.'),
    nextInquiryAt: instant.exactOptional().describe('When the schedule inquires next.'),
    refundableAmount: z.int().min(0),
    actions: z.array(oneOf(operatorActions, 'Allowed by the state machine now.')),
    reviews: z.array(reviewEntrySchema),
    disputes: z.array(publicDispute.answer).describe('Events of this payment, oldest first.'),
  }),
  OperatorHistory: answer({
    events: z.array(
      z.object({
        revision: z.int().min(0),
        type: z.string(),
        at: instant,
        phase: oneOf([...new Set([...paymentPhases, ...payoutPhases])], 'After the event.'),
        status: z.string().describe('After the event.'),
        cause: z.object({ correlationId: z.string(), causationId: z.string(), actor }),
        data: z.record(z.string(), z.unknown()),
        stored: z.record(z.string(), z.unknown()).describe('The event as it is stored.'),
      }),
    ),
  }),
  OperatorPayoutList: pageOf({ payouts: z.array(ownedPayout) }),
  OperatorRefundList: pageOf({ refunds: z.array(ownedRefund) }),
  OperatorDisputeList: pageOf({ disputes: z.array(ownedDispute) }),
  OperatorPayout: answer({ payout: ownedPayout }),
  OwnedJournalEntry: ownedEntry,
  OwnedStatement: ownedStatement,
  WalletBalance: walletBalance,
  OperatorJournal: pageOf({ entries: z.array(ownedEntry) }),
  OperatorStatementList: answer({ month: z.string(), statements: z.array(ownedStatement) }),
  WalletBalanceList: answer({ balances: z.array(walletBalance) }),
  OperatorReconciliationList: pageOf({ reconciliations: z.array(ownedReconciliation) }),
  OperatorReconciliation: answer({
    reconciliation: ownedReconciliation.extend({ differences: z.array(publicDifferenceSchema) }),
  }),
  OperatorWebhookList: pageOf({
    webhooks: z.array(webhookSchema.extend(owner)),
    count: z.int().min(0).describe('Number of matches on all pages.'),
  }),
  DisabledEndpointList: answer({
    endpoints: z.array(webhookEndpointSchema.extend({ team: owner.team })),
    count: z.int().min(0).describe('All of them; at most 500 are listed.'),
  }),
  SecurityLog: pageOf({
    entries: z.array(
      z.object({
        revision: z.int().min(0).describe('Its number in the log, from 0.'),
        at: instant,
        type: z.string(),
        actor: actor.exactOptional(),
        data: z.record(z.string(), z.unknown()),
      }),
    ),
    checked: z.int().min(0).describe('Number of entries of this page with an intact chain.'),
    faultAt: z.int().min(0).exactOptional().describe('The newest entry with a broken chain.'),
  }),
  RequestedReconciliation: answer({
    token: z.string().describe('Token under which it is listed when it has ended.'),
  }),
  InquiryAnswer: answer({
    result: oneOf(
      ['inquired', 'awaiting-answer', 'nothing-there', 'failed', 'not-asked'],
      'Result of the inquiry.',
    ),
  }),
  OperatorReviewList: answer({
    reviews: z.array(
      z.intersection(
        reviewEntrySchema,
        z.object({
          ...owner,
          proposedBy: z
            .string()
            .exactOptional()
            .describe('The person who proposed a resolution. Under dual control, another person must agree.'),
        }),
      ),
    ),
    count: z.int().min(0).describe('Number of matches on all pages.'),
    nextCursor: z.string().exactOptional(),
  }),
  Overview: answer({
    at: instant,
    hours: z.array(overviewHour),
    readModelLagMs: z
      .number()
      .min(0)
      .exactOptional()
      .describe('Lag of reads behind the events. Absent if the store does not report it.'),
    unresolved: z.int().min(0).describe('Payments and payouts with a call whose outcome is not known.'),
    unresolvedPayouts: z.int().min(0).describe('Payouts among them.'),
    payoutsToApprove: z.int().min(0).describe('Payouts that wait for approval.'),
    openDisputes: z.int().min(0).describe('Disputes that are open or of unknown status.'),
    reviews: z.int().min(0),
  }),
  OutcomeCounts: answer({
    createdFrom: instant,
    counts: z.array(
      z.object({
        at: instant.describe('Begin of the day or hour in UTC. ISO 8601.'),
        group: z
          .string()
          .exactOptional()
          .describe('Absent without `by`, and by reason for payments without one.'),
        approved: z.int().min(0),
        declined: z.int().min(0),
      }),
    ),
  }),
  SearchResults: answer({
    hits: z.array(searchHit).describe('At most 20: whole matches first.'),
    isPartial: z
      .boolean()
      .exactOptional()
      .describe('In a search by card digits: true if older payments were not searched.'),
    request: requestSchema
      .extend({ team: z.string() })
      .exactOptional()
      .describe('The request with the searched id.'),
  }),
  TeamNames: answer({
    teams: z.array(z.string()),
    withoutKey: z.array(z.string()).describe('Teams without an active key.'),
  }),
  SavedViews: answer({
    views: z.array(z.object({ name: z.string(), query: z.string() })).describe('By name.'),
  }),
  Transfer: answer({ token: z.string().describe('Of the transfer.') }),
  ...accountAnswerSchemas,
  ...credentialAnswerSchemas,
  ...teamAnswerSchemas,
} as const satisfies Record<string, z.ZodType>;

export type OperatorAction = (typeof operatorActions)[number];
export type OperatorPaymentAnswer = z.infer<(typeof operatorAnswerSchemas)['OperatorPayment']>;
