/** The journal of a team, and its statements. */
import { journalExportSchema, journalListSchema, statementSchema } from './queries.ts';
import { get, ownCsvFile, ownList, shown } from './route-parts.ts';
import type { Route } from './routes.ts';

const csv = 'RFC 4180 with a header line and a byte order mark; amounts in minor units and in major units.';

export const ledgerRoutes = {
  listJournal: {
    ...get('query-service', 'Money', '/api/v1/journal'),
    summary: 'Lists journal entries, newest or oldest first',
    description:
      'Double entry: the postings of each entry sum to zero. It contains all money that your team has moved, and transfers of its own wallet. A page ends after 5,000 entries that do not match: follow `nextCursor`.',
    scopes: ['read', 'payouts'],
    query: journalListSchema,
    ...ownList('Journal'),
  },
  exportJournal: {
    ...get('query-service', 'Money', '/api/v1/journal.csv'),
    summary: 'Exports journal entries as a CSV file, one line for each posting',
    description: csv,
    scopes: ['read', 'payouts'],
    query: journalExportSchema,
    ...ownCsvFile,
  },
  listStatements: {
    ...get('query-service', 'Money', '/api/v1/statements'),
    summary: 'Shows a month: opening, entries by kind, closing',
    description:
      'Entries of your team, by wallet, merchant account and currency. For the balance of a shared wallet, use `/api/v1/balance`. An entry counts in the month of its event, in UTC.',
    scopes: ['read', 'payouts'],
    query: statementSchema,
    minPosition: 'awaited',
    ...shown('The statements.', 'StatementList', 'sum_too_large'),
  },
  exportStatements: {
    ...get('query-service', 'Money', '/api/v1/statements.csv'),
    summary: 'Exports the statements of a month as a CSV file',
    description: csv,
    scopes: ['read', 'payouts'],
    query: statementSchema,
    ...ownCsvFile,
  },
} satisfies Record<string, Route>;
