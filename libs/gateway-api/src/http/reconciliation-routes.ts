import { reconciliationListSchema } from './queries.ts';
import { get, onePage } from './route-parts.ts';
import type { Route } from './routes.ts';

export const reconciliationRoutes = {
  listReconciliations: {
    ...get('query-service', 'People', '/api/v1/reconciliations'),
    summary: 'Lists reconciliations that have ended, newest first',
    description:
      "Our books compared with the Payment Service's lists, by merchant account and day. Lists only runs that compared payments and payouts of your team alone.",
    scopes: ['admin'],
    query: reconciliationListSchema,
    answers: onePage('ReconciliationList'),
  },
  retrieveReconciliation: {
    ...get('query-service', 'People', '/api/v1/reconciliations/:token'),
    summary: 'Shows a reconciliation with its differences',
    scopes: ['admin'],
    answers: { 200: { meaning: 'The reconciliation.', schema: 'ReconciliationAnswer' } },
    errors: ['reconciliation_not_found'],
  },
  exportReconciliation: {
    ...get('query-service', 'People', '/api/v1/reconciliations/:token/differences.csv'),
    summary: 'Exports the differences of a reconciliation as a CSV file',
    description: 'RFC 4180 with a header line, written as the export of payments; amounts in minor units.',
    scopes: ['admin'],
    answers: { 200: { meaning: 'The file.', type: 'text/csv' } },
    errors: ['reconciliation_not_found'],
  },
} satisfies Record<string, Route>;
