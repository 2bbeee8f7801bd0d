import type { DatabaseSync } from 'node:sqlite';
import { createAccountsTable } from './accounts-table.ts';
import { createCallLog } from './call-log.ts';
import { createCallbackQueue } from './callback-queue.ts';
import { createDisputesTable } from './disputes-table.ts';
import { createOperationsList } from './operations-list.ts';
import { createPaymentsTable } from './payments-table.ts';
import { createPayoutsTable } from './payouts-table.ts';
import { createRefundsTable } from './refunds-table.ts';

/** What merchants' operations are kept in. */
export type Tables = ReturnType<typeof createTables>;

export const createTables = (connection: DatabaseSync) => ({
  payments: createPaymentsTable(connection),
  refunds: createRefundsTable(connection),
  payouts: createPayoutsTable(connection),
  disputes: createDisputesTable(connection),
  bookings: createAccountsTable(connection),
  operations: createOperationsList(connection),
  queue: createCallbackQueue(connection),
  calls: createCallLog(connection),
});
