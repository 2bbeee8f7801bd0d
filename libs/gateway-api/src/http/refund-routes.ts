import { refundExportSchema, refundListSchema } from './queries.ts';
import {
  calls,
  done,
  get,
  ofProviderCalls,
  oneObject,
  ownCsvFile,
  ownList,
  post,
  unknown,
} from './route-parts.ts';
import type { Route } from './routes.ts';

export const refundRoutes = {
  refundPayment: {
    ...post('command-service', 'Refunds', '/api/v1/refunds'),
    summary: 'Refunds a payment, in full or in part',
    description:
      'Without `amount`, refunds the whole remaining amount. A repeat with the same `Idempotency-Key` is executed once.',
    scopes: ['refunds'],
    idempotencyKey: 'required',
    ...calls,
    body: { schema: 'RefundRequest', example: { token: 'pay_…', amount: 500, metadata: { clerk: '7' } } },
    answers: { ...done('Accepted.', 'CreatedRefund'), ...unknown('CreatedRefund') },
    errors: [
      'incorrect_amount',
      'card_data_not_accepted',
      'idempotency_key_missing',
      'payment_not_found',
      'refund_exceeds_amount',
      'payment_disputed',
      'too_many_refunds',
      'too_much_metadata',
      'amount_limit_exceeded',
      'daily_limit_exceeded',
      'payment_not_refundable',
      'payment_in_final_state',
      'refund_in_review',
      'refund_doubtful',
      'resolved_as_not_made',
      'idempotency_key_reused',
      ...ofProviderCalls,
    ],
  },
  listRefunds: {
    ...get('query-service', 'Refunds', '/api/v1/refunds'),
    summary: 'Lists refunds, newest first',
    description: '`dateFrom` and `dateTo` are days on which refunds were requested, in UTC.',
    scopes: ['read', 'refunds', 'payments'],
    query: refundListSchema,
    ...ownList('RefundList'),
  },
  exportRefunds: {
    ...get('query-service', 'Refunds', '/api/v1/refunds.csv'),
    summary: 'Exports all matching refunds as a CSV file, newest first',
    description: 'Same format as `/api/v1/payments.csv`.',
    scopes: ['read', 'refunds', 'payments'],
    query: refundExportSchema,
    ...ownCsvFile,
  },
  retrieveRefund: {
    ...get('query-service', 'Refunds', '/api/v1/refunds/:refundToken'),
    summary: 'Shows a refund',
    scopes: ['read', 'refunds', 'payments'],
    ...oneObject('The refund.', 'RefundAnswer'),
    errors: ['refund_not_found'],
  },
} satisfies Record<string, Route>;
