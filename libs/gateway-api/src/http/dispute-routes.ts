import { disputeExportSchema, disputeListSchema, noQuerySchema } from './queries.ts';
import { get, oneObject, ownCsvFile, ownList, shown } from './route-parts.ts';
import type { Route } from './routes.ts';

export const disputeRoutes = {
  listNewestDisputes: {
    ...get('query-service', 'Money', '/api/v1/disputes/list'),
    summary: 'Lists the last hundred disputes, newest first',
    description:
      'The list of the specification, in which `token` names the payment. `/api/v1/disputes` has filters and pages.',
    scopes: ['read', 'payments'],
    query: noQuerySchema,
    minPosition: 'awaited',
    ...shown('The disputes.', 'LatestDisputes'),
  },
  listDisputes: {
    ...get('query-service', 'Money', '/api/v1/disputes'),
    summary: 'Lists disputes, newest first',
    description: '`dateFrom` and `dateTo` are days on which disputes were opened, in UTC.',
    scopes: ['read', 'payments'],
    query: disputeListSchema,
    ...ownList('DisputeList'),
  },
  exportDisputes: {
    ...get('query-service', 'Money', '/api/v1/disputes.csv'),
    summary: 'Exports all matching disputes as a CSV file, newest first',
    description: 'Same format as `/api/v1/payments.csv`.',
    scopes: ['read', 'payments'],
    query: disputeExportSchema,
    ...ownCsvFile,
  },
  retrieveDispute: {
    ...get('query-service', 'Money', '/api/v1/disputes/:token'),
    summary: 'Shows a dispute',
    scopes: ['read', 'payments'],
    ...oneObject('The dispute.', 'DisputeAnswer'),
    errors: ['dispute_not_found'],
  },
} satisfies Record<string, Route>;
