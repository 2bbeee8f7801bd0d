import { payoutListSchema } from './queries.ts';
import { calls, done, ofProviderCalls, ofReads, tagged, unknown } from './route-parts.ts';
import type { Route } from './routes.ts';

export const payoutRoutes = {
  createPayout: {
    service: 'command-service',
    ...{ method: 'POST', url: '/api/v1/payouts', tag: 'Payouts' },
    summary: 'Creates a payout',
    description:
      'At most what your team has taken through one merchant account in this currency, less what it refunded and paid out, unless the operators have chosen another wallet for it. A repeat with the same `Idempotency-Key` (or, without one, the same `orderNumber`) is carried out once. `destination.card` requires the scope `cards`.',
    ...{ scopes: ['payouts'], idempotencyKey: 'optional', ...calls },
    body: {
      schema: 'PayoutRequest',
      example: {
        ...{ amount: 500, currency: 'EUR', orderNumber: 'payout-1' },
        destination: { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } },
      },
    },
    answers: { ...done('Accepted.', 'CreatedPayout'), ...unknown('CreatedPayout') },
    errors: [
      'incorrect_amount',
      'incorrect_currency',
      'card_data_not_accepted',
      'origin_not_allowed',
      'recurring_token_not_found',
      'payout_exceeds_position',
      'resolved_as_not_made',
      'idempotency_key_reused',
      'read_model_behind',
      ...ofProviderCalls,
    ],
  },
  listPayouts: {
    service: 'query-service',
    ...{ method: 'GET', url: '/api/v1/payouts', tag: 'Payouts' },
    summary: 'Lists payouts, newest first',
    ...{ scopes: ['read', 'payouts'], query: payoutListSchema, minPosition: true },
    answers: done('One page.', 'PayoutList'),
    errors: [...ofReads],
  },
  retrievePayout: {
    service: 'query-service',
    ...{ method: 'GET', url: '/api/v1/payouts/:token', tag: 'Payouts' },
    summary: 'Shows a payout',
    ...{ scopes: ['read', 'payouts'], minPosition: true },
    ...tagged('The payout.', 'PayoutAnswer'),
    errors: [...ofReads, 'payout_not_found'],
  },
  listPayoutEvents: {
    service: 'query-service',
    ...{ method: 'GET', url: '/api/v1/payouts/:token/events', tag: 'Payouts' },
    summary: 'Shows the whole history of a payout',
    scopes: ['read', 'payouts'],
    answers: done('Every event, in order.', 'PayoutHistory'),
    errors: ['payout_not_found', 'store_unavailable'],
  },
} satisfies Record<string, Route>;
