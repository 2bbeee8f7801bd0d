/** The routes across teams, for operators. No key of a team has their scopes. */
import type { z } from 'zod';
import type { AnswerName } from './answers.ts';
import * as queries from './queries.ts';
import { csvFile, done, listed, onePage, post, shown } from './route-parts.ts';
import type { Bound, Route } from './routes.ts';
import { ofReplays, replayed } from './webhook-routes.ts';

const reading = <Of extends Bound>(url: string, bound: Of) => ({
  service: 'query-service' as const,
  method: 'GET' as const,
  url: `/api/v1/admin/${url}`,
  tag: 'Operators' as const,
  scopes: ['operators:read'] as const,
  bound,
});

const listOfAll = <Query extends z.ZodObject>(name: string, query: Query, schema: AnswerName) => ({
  ...reading(name, 'teams'),
  summary: `Lists the ${name} of all teams, newest or oldest first`,
  query,
  tellsPosition: true as const,
  isExpensive: true as const,
  ...listed(schema),
});

const fileOfAll = <Query extends z.ZodObject>(name: string, query: Query) => ({
  ...reading(`${name}.csv`, 'teams'),
  summary: `Exports the ${name} of all teams as a CSV file, newest or oldest first`,
  description: 'In the form of `/api/v1/payments.csv`, with the filters of the list.',
  query,
  ...csvFile,
});

const historyOfAny = <Kind extends 'payment' | 'payout'>(kind: Kind) =>
  ({
    ...reading(`${kind}s/:token/events`, 'teams'),
    summary: `Shows the history of a ${kind} of any team, with people and stored events`,
    answers: done('Every event, in order.', 'OperatorHistory'),
    errors: [`${kind}_not_found`],
  }) satisfies Route;

const onBehalf =
  'A person sends a credential of `tollgate operator` as the bearer of `Authorization`. It covers the teams and environments that the person was granted. With `Tollgate-Team` and `Tollgate-Environment` it covers the routes of that team, within the role of the person.';

export const operatorRoutes = {
  listPaymentsOfAll: {
    ...listOfAll('payments', queries.operatorPaymentListSchema, 'OperatorPaymentList'),
    description: `With a filter by amount, account, mask or decline reason, a page ends after 5,000 payments that do not match: follow \`nextCursor\`.\n\n${onBehalf}`,
  },
  exportPaymentsOfAll: fileOfAll('payments', queries.operatorPaymentExportSchema),
  retrievePaymentOfAny: {
    ...reading('payments/:token', 'teams'),
    summary: 'Shows a payment of any team, with its next inquiry and the allowed actions',
    ...shown('The payment.', 'OperatorPayment', 'payment_not_found'),
  },
  listPaymentEventsOfAny: historyOfAny('payment'),
  inquirePayment: {
    ...post('command-service', 'Operators', '/api/v1/admin/payments/:token/inquire'),
    summary: 'Inquires about a payment now, and waits for the answer',
    scopes: ['operators:act'],
    bound: 'teams',
    answers: done('Result of the inquiry.', 'InquiryAnswer'),
    errors: ['payment_not_found'],
  },
  transferMoney: {
    ...post('command-service', 'Operators', '/api/v1/admin/transfers'),
    summary: 'Moves money from one wallet to another, within a merchant account',
    description:
      'Wallets are `team-<team>`, `wallet-<name>` of a shared one, and `provider`. Nothing else moves money between wallets: a team with another wallet uses it for new payments. A repeat with the same `Idempotency-Key` moves nothing.',
    scopes: ['operators:manage'],
    bound: 'installation',
    idempotencyKey: 'required',
    body: {
      schema: 'TransferRequest',
      example: {
        environment: 'production',
        account: 'main',
        currency: 'EUR',
        amount: 250_000,
        from: 'team-shop',
        to: 'wallet-group',
        reason: 'The shop joined the group.',
      },
    },
    answers: done('The money was transferred.', 'Transfer'),
    errors: [
      ...(['transfer_exceeds_balance', 'idempotency_key_missing', 'idempotency_key_reused'] as const),
      ...(['operation_in_progress', 'incorrect_amount', 'incorrect_currency'] as const),
    ],
  },
  listPayoutsOfAll: listOfAll('payouts', queries.operatorPayoutListSchema, 'OperatorPayoutList'),
  retrievePayoutOfAny: {
    ...reading('payouts/:token', 'teams'),
    summary: 'Shows a payout of any team',
    answers: done('The payout.', 'OperatorPayout'),
    errors: ['payout_not_found'],
  },
  listPayoutEventsOfAny: historyOfAny('payout'),
  listRefundsOfAll: listOfAll('refunds', queries.operatorRefundListSchema, 'OperatorRefundList'),
  exportRefundsOfAll: fileOfAll('refunds', queries.operatorRefundExportSchema),
  listDisputesOfAll: {
    ...listOfAll('disputes', queries.operatorDisputeListSchema, 'OperatorDisputeList'),
    description:
      'A caller that reaches every team also sees disputes whose payment is not known: they have no team.',
  },
  exportDisputesOfAll: fileOfAll('disputes', queries.operatorDisputeExportSchema),
  listJournalOfAll: {
    ...listOfAll('journal', queries.operatorJournalListSchema, 'OperatorJournal'),
    summary: 'Lists journal entries of all teams, newest or oldest first',
    description:
      'Transfers between shared wallets belong to no team: callers who reach all teams see them. A page ends after 5,000 entries that do not match: follow `nextCursor`.',
  },
  exportJournalOfAll: {
    ...reading('journal.csv', 'teams'),
    summary: 'Exports journal entries of all teams as a CSV file, one line for each posting',
    query: queries.operatorJournalExportSchema,
    ...csvFile,
  },
  listStatementsOfAll: {
    ...reading('statements', 'teams'),
    summary: 'Shows a month of each wallet',
    description: 'Sums over the teams within reach.',
    query: queries.operatorStatementSchema,
    ...shown('The statements.', 'OperatorStatementList', 'sum_too_large'),
  },
  exportStatementsOfAll: {
    ...reading('statements.csv', 'teams'),
    summary: 'Exports the statements of a month as a CSV file',
    query: queries.operatorStatementSchema,
    ...csvFile,
  },
  listBalancesOfAll: {
    ...reading('balances', 'teams'),
    summary: 'Shows the balance of each wallet, by merchant account and currency',
    description: 'A shared wallet has one balance for all its teams.',
    query: queries.operatorBalanceSchema,
    ...shown('The balances.', 'WalletBalanceList', 'sum_too_large'),
  },
  listReconciliationsOfAll: {
    ...reading('reconciliations', 'teams'),
    summary: 'Lists the reconciliations of all accounts that have ended, newest first',
    query: queries.reconciliationListSchema,
    answers: onePage('OperatorReconciliationList'),
  },
  retrieveReconciliationOfAny: {
    ...reading('reconciliations/:token', 'teams'),
    summary: 'Shows a reconciliation of any account, with its differences',
    answers: done('The reconciliation.', 'OperatorReconciliation'),
    errors: ['reconciliation_not_found'],
  },
  requestReconciliation: {
    ...post('command-service', 'Operators', '/api/v1/admin/reconciliations'),
    summary: 'Reconciles a day of a merchant account with the Payment Service',
    description:
      'The run starts within seconds and can take minutes. Its token is not found until it has ended. An account that is not configured ends as `account_unknown`.',
    scopes: ['operators:act'],
    bound: 'installation',
    body: {
      schema: 'ReconciliationRequest',
      example: { environment: 'production', account: 'main', day: '2030-01-31', isDryRun: true },
    },
    answers: done('The reconciliation is requested.', 'RequestedReconciliation'),
  },
  listWebhooksOfAll: {
    ...reading('webhooks', 'teams'),
    service: 'notifier',
    summary: 'Lists the webhooks of all teams with every attempt: failed ones first, then latest first',
    description:
      '`failed`: no further attempt follows. `retrying`: an attempt has failed, and another one follows. Lists the last 10,000 delivered webhooks of each team and environment, and all undelivered ones.',
    query: queries.operatorWebhookListSchema,
    isExpensive: true,
    ...listed('OperatorWebhookList'),
  },
  listDisabledEndpoints: {
    ...reading('webhook-endpoints', 'teams'),
    service: 'notifier',
    summary: 'Lists the standing webhook endpoints of all teams that are disabled, longest first',
    description: 'Nothing is sent to them until their team enables them.',
    query: queries.noQuerySchema,
    ...shown('The disabled endpoints.', 'DisabledEndpointList'),
  },
  replayWebhooksOfAll: {
    ...post('notifier', 'Operators', '/api/v1/admin/webhooks/replay'),
    summary: 'Sends webhooks of any team again',
    description:
      'Replays the webhook with this `id`, or all that failed (with `status`: were delivered), oldest first. At most 500 at a time: while the answer has `nextCursor`, send the same body with it as `cursor`.',
    scopes: ['operators:act'],
    bound: 'teams',
    body: { schema: 'OperatorWebhookReplay', example: { team: 'shop', createdFrom: '2030-01-01T00:00:00Z' } },
    answers: replayed,
    errors: [...ofReplays],
  },
  listSecurityLog: {
    ...reading('security-log', 'teams'),
    summary: 'Lists the security log, newest first, and checks the hash chain of the page',
    description:
      'A page reads at most 2,000 entries, so it may be empty while `nextCursor` is present. `tollgate audit verify` checks the whole log.',
    query: queries.securityLogSchema,
    isExpensive: true,
    answers: done('One page.', 'SecurityLog'),
  },
  listReviewsOfAll: {
    ...reading('reviews', 'teams'),
    summary: 'Lists the open reviews of all teams: those of production first, each oldest first',
    description: 'Pages have 500 reviews unless `perPage` says otherwise.',
    query: queries.operatorReviewListSchema,
    isExpensive: true,
    ...listed('OperatorReviewList'),
  },
  showOverview: {
    ...reading('overview', 'teams'),
    summary: 'Counts payments of the last 24 hours by hour, and everything that is open',
    query: queries.noQuerySchema,
    ...shown('The figures.', 'Overview'),
  },
  searchAll: {
    ...reading('search', 'teams'),
    summary:
      'Finds payments, refunds, payouts, disputes, keys and teams by a token, order number, name, request id or card',
    description:
      'Tokens, order numbers and names match by their beginning; case, `#` and spaces do not count in an order number. A refund matches by its whole token, a card by its last digits: `*1251`.',
    query: queries.searchSchema,
    ...shown('The matches and how they were found.', 'SearchResults'),
  },
  countOutcomes: {
    ...reading('outcomes', 'teams'),
    summary: 'Counts approved and declined payments by day or hour of their creation',
    description:
      'By team, account, currency or decline reason. The last 31 days unless `createdFrom` says otherwise. By reason, approved payments have no group.',
    query: queries.outcomeCountSchema,
    isExpensive: true,
    ...shown('The counts, oldest first.', 'OutcomeCounts'),
  },
  listTeamNames: {
    ...reading('teams', 'teams'),
    summary: 'Lists the teams by name',
    query: queries.noQuerySchema,
    ...shown('The teams.', 'TeamNames'),
  },
  listSavedViews: {
    ...reading('views', 'person'),
    service: 'command-service',
    summary: 'Lists the lists of payments that you have saved by name',
    query: queries.noQuerySchema,
    answers: done('Your saved views, by name.', 'SavedViews'),
  },
  saveView: {
    ...post('command-service', 'Operators', '/api/v1/admin/views'),
    summary: 'Saves a list of payments by name; one of the same name is replaced',
    scopes: ['operators:read'],
    bound: 'person',
    body: { schema: 'SavedView', example: { name: 'Shop, declined', query: 'team=shop&phase=declined' } },
    answers: done('Your saved views, by name.', 'SavedViews'),
    errors: ['too_many_views'],
  },
  removeView: {
    ...post('command-service', 'Operators', '/api/v1/admin/views/remove'),
    summary: 'Removes a saved list of payments by its name',
    scopes: ['operators:read'],
    bound: 'person',
    body: { schema: 'RemovedView', example: { name: 'Shop, declined' } },
    answers: done('Your remaining saved views, by name.', 'SavedViews'),
  },
} satisfies Record<string, Route>;
