/** The routes across teams, for people who operate the gateway. No key of a team has their scopes. */
import {
  declineCountSchema,
  operatorDisputeExportSchema,
  operatorDisputeListSchema,
  noQuerySchema,
  operatorPaymentListSchema,
  operatorPayoutListSchema,
  operatorRefundExportSchema,
  operatorRefundListSchema,
  operatorReviewListSchema,
  operatorWebhookListSchema,
  reconciliationListSchema,
  searchSchema,
  securityLogSchema,
} from './queries.ts';
import { csvFile, done, ofCommands, ofReads, post } from './route-parts.ts';
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

const onBehalf =
  'A person shows a credential that `tollgate operator` issues, as the bearer of `Authorization`. It shows the teams and environments that the person was granted. With `Tollgate-Team` and `Tollgate-Environment` it opens the routes of that team, within the role of the person there.';

export const operatorRoutes = {
  listPaymentsOfAll: {
    ...reading('payments', 'teams'),
    summary: 'Lists the payments of all teams, newest or oldest first',
    description: `Of a filter by amount, account, mask or reason of a decline, a page ends after 5,000 payments that do not match: follow \`nextCursor\`.\n\n${onBehalf}`,
    query: operatorPaymentListSchema,
    isExpensive: true,
    answers: done(
      'One page; it may be shorter than `perPage` while `nextCursor` is present.',
      'OperatorPaymentList',
    ),
    errors: [...ofReads],
  },
  retrievePaymentOfAny: {
    ...reading('payments/:token', 'teams'),
    summary: 'Shows a payment of whatever team: what happens next, and what may be done now',
    answers: done('The payment.', 'OperatorPayment'),
    errors: ['payment_not_found', 'store_unavailable', 'read_model_behind'],
  },
  listPaymentEventsOfAny: {
    ...reading('payments/:token/events', 'teams'),
    summary: 'Shows the history of a payment of whatever team, with persons and with each event as stored',
    answers: done('Every event, in order.', 'OperatorHistory'),
    errors: ['payment_not_found', 'store_unavailable'],
  },
  inquirePayment: {
    ...post('command-service', 'Operators', '/api/v1/admin/payments/:token/inquire'),
    summary: 'Inquires about a payment now, and waits for the answer',
    scopes: ['operators:act'],
    bound: 'teams',
    answers: done('What came of it.', 'InquiryAnswer'),
    errors: ['payment_not_found', ...ofCommands],
  },
  forgetCustomer: {
    ...post('command-service', 'Operators', '/api/v1/admin/payments/:token/forget'),
    summary: 'Erases the stored e-mail and IP address of the customer of a payment',
    description:
      'The payment stays in the books: the answer lists its texts, and where copies of them are. A repeat changes nothing.',
    scopes: ['operators:manage'],
    bound: 'teams',
    answers: done('Neither is stored any longer.', 'ForgottenCustomer'),
    errors: ['payment_not_found', ...ofCommands],
  },
  listDeadLetters: {
    ...reading('dead-letters', 'installation'),
    service: 'command-service',
    summary: 'Lists callbacks of the Payment Service that could never be applied, oldest first',
    query: noQuerySchema,
    answers: done('Those that were not published again yet.', 'DeadLetterList'),
    errors: [...ofCommands],
  },
  replayDeadLetters: {
    ...post('command-service', 'Operators', '/api/v1/admin/dead-letters/replay'),
    summary: 'Publishes dead-lettered callbacks again, one or all that are callbacks',
    description:
      'A callback is a hint: it sets an inquiry off, so one that is applied twice changes nothing.',
    scopes: ['operators:act'],
    bound: 'installation',
    body: { schema: 'DeadLetterReplay', example: { offset: '0/17' }, isOptional: true },
    answers: done('Published again.', 'ReplayedDeadLetters'),
    errors: ['dead_letter_not_found', ...ofCommands],
  },
  listPayoutsOfAll: {
    ...reading('payouts', 'teams'),
    summary: 'Lists the payouts of all teams, newest or oldest first',
    query: operatorPayoutListSchema,
    isExpensive: true,
    answers: done(
      'One page; it may be shorter than `perPage` while `nextCursor` is present.',
      'OperatorPayoutList',
    ),
    errors: [...ofReads],
  },
  retrievePayoutOfAny: {
    ...reading('payouts/:token', 'teams'),
    summary: 'Shows a payout of whatever team',
    answers: done('The payout.', 'OperatorPayout'),
    errors: ['payout_not_found', 'store_unavailable'],
  },
  listPayoutEventsOfAny: {
    ...reading('payouts/:token/events', 'teams'),
    summary: 'Shows the history of a payout of whatever team, with persons and with each event as stored',
    answers: done('Every event, in order.', 'OperatorHistory'),
    errors: ['payout_not_found', 'store_unavailable'],
  },
  listRefundsOfAll: {
    ...reading('refunds', 'teams'),
    summary: 'Lists the refunds of all teams, newest or oldest first',
    query: operatorRefundListSchema,
    isExpensive: true,
    answers: done(
      'One page; it may be shorter than `perPage` while `nextCursor` is present.',
      'OperatorRefundList',
    ),
    errors: [...ofReads],
  },
  exportRefundsOfAll: {
    ...reading('refunds.csv', 'teams'),
    summary: 'Exports the refunds of all teams as a CSV file, newest or oldest first',
    description: 'In the form of `/api/v1/payments.csv`.',
    query: operatorRefundExportSchema,
    ...csvFile,
  },
  listDisputesOfAll: {
    ...reading('disputes', 'teams'),
    summary: 'Lists the disputes of all teams, newest or oldest first',
    description:
      'A caller that reaches every team also sees disputes whose payment is not known: they have no team.',
    query: operatorDisputeListSchema,
    isExpensive: true,
    answers: done(
      'One page; it may be shorter than `perPage` while `nextCursor` is present.',
      'OperatorDisputeList',
    ),
    errors: [...ofReads],
  },
  exportDisputesOfAll: {
    ...reading('disputes.csv', 'teams'),
    summary: 'Exports the disputes of all teams as a CSV file, newest or oldest first',
    description: 'In the form of `/api/v1/payments.csv`.',
    query: operatorDisputeExportSchema,
    ...csvFile,
  },
  listReconciliationsOfAll: {
    ...reading('reconciliations', 'teams'),
    summary: 'Lists the reconciliations of all accounts that have ended, newest first',
    query: reconciliationListSchema,
    answers: done(
      'One page; it may be shorter than `perPage` while `nextCursor` is present.',
      'OperatorReconciliationList',
    ),
    errors: ['invalid_param', 'store_unavailable'],
  },
  retrieveReconciliationOfAny: {
    ...reading('reconciliations/:token', 'teams'),
    summary: 'Shows a reconciliation of whatever account, with its differences',
    answers: done('The reconciliation.', 'OperatorReconciliation'),
    errors: ['reconciliation_not_found', 'store_unavailable'],
  },
  requestReconciliation: {
    ...post('command-service', 'Operators', '/api/v1/admin/reconciliations'),
    summary: 'Has a day of a merchant account compared with the Payment Service',
    description:
      'The gateway begins within seconds; what a large day takes may be minutes, and its token is not found before it has ended. An account that is not configured ends as `account_unknown`.',
    scopes: ['operators:act'],
    bound: 'installation',
    body: {
      schema: 'ReconciliationRequest',
      example: { environment: 'production', account: 'main', day: '2030-01-31', isDryRun: true },
    },
    answers: done('It is asked for.', 'RequestedReconciliation'),
    errors: [...ofCommands],
  },
  listWebhooksOfAll: {
    ...reading('webhooks', 'teams'),
    service: 'notifier',
    summary: 'Lists the webhooks of all teams with every attempt: failed ones first, then latest first',
    description:
      '`failed`: no further attempt follows. `retrying`: an attempt has failed, and another one follows. Of a team and environment the last 10,000 delivered webhooks are listed, and all others.',
    query: operatorWebhookListSchema,
    isExpensive: true,
    answers: done('One page.', 'OperatorWebhookList'),
    errors: [...ofReads],
  },
  listDisabledEndpoints: {
    ...reading('webhook-endpoints', 'teams'),
    service: 'notifier',
    summary: 'Lists the standing webhook endpoints of all teams that are disabled, longest first',
    description: 'Nothing is sent to them until their team enables them.',
    query: noQuerySchema,
    answers: done('Those that are disabled now.', 'DisabledEndpointList'),
    errors: [...ofReads],
  },
  replayWebhooksOfAll: {
    ...post('notifier', 'Operators', '/api/v1/admin/webhooks/replay'),
    summary: 'Sends webhooks of any team again',
    description:
      'The one with this `id`, or those that failed (or with `status` were delivered), at most 500 at a time, oldest first: while the answer has `nextCursor`, send the same body with it as `cursor`.',
    scopes: ['operators:act'],
    bound: 'teams',
    body: {
      schema: 'OperatorWebhookReplay',
      example: { team: 'shop', createdFrom: '2030-01-01T00:00:00Z' },
    },
    answers: replayed,
    errors: [...ofReplays, ...ofCommands],
  },
  listSecurityLog: {
    ...reading('security-log', 'teams'),
    summary: 'Lists the security log, newest first, and checks the chain of what it looks at',
    description:
      'A page looks at 2,000 entries at most, so one with a filter may be empty while `nextCursor` is present. The whole log is checked by `tollgate audit verify`.',
    query: securityLogSchema,
    isExpensive: true,
    answers: done('One page.', 'SecurityLog'),
    errors: ['invalid_param', 'store_unavailable'],
  },
  listReviewsOfAll: {
    ...reading('reviews', 'teams'),
    summary: 'Lists the open reviews of all teams: those of production first, each oldest first',
    description: 'Pages have 500 reviews unless `perPage` says otherwise.',
    query: operatorReviewListSchema,
    isExpensive: true,
    answers: done('One page.', 'OperatorReviewList'),
    errors: [...ofReads],
  },
  showOverview: {
    ...reading('overview', 'teams'),
    summary: 'Counts the payments of the last 24 hours by hour, what is unresolved, and the open reviews',
    query: noQuerySchema,
    answers: done('The figures.', 'Overview'),
    errors: [...ofReads],
  },
  searchAll: {
    ...reading('search', 'teams'),
    summary:
      'Finds payments of all teams by a token, the id of a request, an order number, the service’s token or a masked card',
    query: searchSchema,
    answers: done('What was found, and by what.', 'SearchResults'),
    errors: [...ofReads],
  },
  suggest: {
    ...reading('search/suggestions', 'teams'),
    summary: 'Finds payments of all teams by the beginning of a token or of an order number',
    description: 'Eight at the most. What is typed in full is found by the search.',
    query: searchSchema,
    answers: done('What begins with it, and which of the two does.', 'SearchResults'),
    errors: [...ofReads],
  },
  countDeclines: {
    ...reading('declines', 'teams'),
    summary: 'Counts declined payments by their reason, most frequent first',
    description: 'Looks at the newest 5,000 of them; `isPartial` says that there are more.',
    query: declineCountSchema,
    isExpensive: true,
    answers: done('The reasons.', 'DeclineCounts'),
    errors: [...ofReads],
  },
  listTeamNames: {
    ...reading('teams', 'teams'),
    summary: 'Lists the teams by name',
    query: noQuerySchema,
    answers: done('The teams.', 'TeamNames'),
    errors: [...ofReads],
  },
  listSavedViews: {
    ...reading('views', 'person'),
    service: 'command-service',
    summary: 'Lists the lists of payments that you have saved by name',
    query: noQuerySchema,
    answers: done('Your own, by name.', 'SavedViews'),
    errors: [...ofCommands],
  },
  saveView: {
    ...post('command-service', 'Operators', '/api/v1/admin/views'),
    summary: 'Saves a list of payments by name; one of the same name is replaced',
    scopes: ['operators:read'],
    bound: 'person',
    body: { schema: 'SavedView', example: { name: 'Shop, declined', query: 'team=shop&phase=declined' } },
    answers: done('All of yours, by name.', 'SavedViews'),
    errors: ['too_many_views', ...ofCommands],
  },
  removeView: {
    ...post('command-service', 'Operators', '/api/v1/admin/views/remove'),
    summary: 'Removes a saved list of payments by its name',
    scopes: ['operators:read'],
    bound: 'person',
    body: { schema: 'RemovedView', example: { name: 'Shop, declined' } },
    answers: done('What is left, by name.', 'SavedViews'),
    errors: [...ofCommands],
  },
} satisfies Record<string, Route>;
