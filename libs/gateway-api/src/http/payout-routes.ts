import { payoutListSchema } from './queries.ts';
import { calls, done, get, ofProviderCalls, oneObject, ownList, post, unknown } from './route-parts.ts';
import type { Route } from './routes.ts';

const decidedBySecondKey = <More extends Pick<Route, 'description' | 'body'>>(
  decision: 'approve' | 'refuse',
  summary: string,
  more: More,
) =>
  ({
    ...post('command-service', 'Payouts', `/api/v1/payouts/:token/${decision}`),
    summary,
    scopes: ['approvals'],
    isCommand: true,
    ...more,
    answers: done('The current payout.', 'CreatedPayout'),
    errors: ['payout_not_found', 'payout_not_awaiting_approval', 'approval_by_requester'],
  }) satisfies Route;

export const payoutRoutes = {
  createPayout: {
    ...post('command-service', 'Payouts', '/api/v1/payouts'),
    summary: 'Creates a payout',
    description:
      'Limited to the available balance of your wallet at one merchant account. Above the approval threshold of your team, the payout waits (202, phase `awaiting_approval`) until another key approves it. Then repeat the request to send it, if the balance still covers it. A repeat with the same `Idempotency-Key` (or, without one, the same `orderNumber`) is executed once. `destination.card` requires the scope `cards`.',
    scopes: ['payouts'],
    idempotencyKey: 'optional',
    ...calls,
    body: {
      schema: 'PayoutRequest',
      example: {
        amount: 500,
        currency: 'EUR',
        orderNumber: 'payout-1',
        destination: { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } },
      },
    },
    answers: {
      ...done('Accepted.', 'CreatedPayout'),
      ...unknown(
        'CreatedPayout',
        'It waits for an approval, or was sent and the outcome is not known yet. Retrieve it later.',
      ),
    },
    errors: [
      'incorrect_amount',
      'incorrect_currency',
      'card_data_not_accepted',
      'origin_not_allowed',
      'recurring_token_not_found',
      'payout_exceeds_balance',
      'amount_limit_exceeded',
      'daily_limit_exceeded',
      'payout_approval_refused',
      'payout_approval_lapsed',
      'payout_in_review',
      'resolved_as_not_made',
      'idempotency_key_reused',
      'read_model_behind',
      ...ofProviderCalls,
    ],
  },
  approvePayout: decidedBySecondKey('approve', 'Approves a payout', {
    description:
      'Use another key of the team than the requesting one. The approval sends nothing. The team repeats its request within 24 hours, which sends the payout once.',
  }),
  refusePayout: decidedBySecondKey('refuse', 'Refuses a payout', {
    description:
      'Use another key of the team than the requesting one. An approved payout can be refused until it is sent.',
    body: { schema: 'ApprovalRefusal', example: { reason: 'Not one of our accounts.' } },
  }),
  checkPayoutDestination: {
    ...post('command-service', 'Payouts', '/api/v1/payouts/:token/check-destination'),
    summary: 'Compares an account number with the destination of a payout',
    description:
      'The full number of a bank account is not stored. An approver compares the one from the invoice. Each comparison is in the security log.',
    scopes: ['approvals'],
    body: { schema: 'DestinationCheck', example: { account: 'DE02120300000000202051' } },
    answers: done('Result of the comparison.', 'CheckedDestination'),
    errors: ['payout_not_found', 'payout_not_awaiting_approval'],
  },
  listPayouts: {
    ...get('query-service', 'Payouts', '/api/v1/payouts'),
    summary: 'Lists payouts, newest first',
    scopes: ['read', 'payouts', 'approvals'],
    query: payoutListSchema,
    ...ownList('PayoutList'),
  },
  retrievePayout: {
    ...get('query-service', 'Payouts', '/api/v1/payouts/:token'),
    summary: 'Shows a payout',
    scopes: ['read', 'payouts', 'approvals'],
    ...oneObject('The payout.', 'PayoutAnswer'),
    errors: ['payout_not_found'],
  },
  listPayoutEvents: {
    ...get('query-service', 'Payouts', '/api/v1/payouts/:token/events'),
    summary: 'Shows the whole history of a payout',
    scopes: ['read', 'payouts', 'approvals'],
    tellsPosition: true,
    answers: done('Every event, in order.', 'PayoutHistory'),
    errors: ['payout_not_found'],
  },
} satisfies Record<string, Route>;
