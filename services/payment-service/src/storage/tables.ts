import type { DatabaseSync } from 'node:sqlite';
import { createAccountsTable } from './accounts-table.ts';
import { createCallLog } from './call-log.ts';
import { createCallbackQueue } from './callback-queue.ts';
import { createOperationsList } from './operations-list.ts';
import { createPaymentsTable } from './payments-table.ts';
import { createRecordsTables } from './records-table.ts';

/** What merchants' operations are kept in. */
export type Tables = ReturnType<typeof createTables>;

export const createTables = (connection: DatabaseSync) => ({
  payments: createPaymentsTable(connection),
  ...createRecordsTables(connection),
  bookings: createAccountsTable(connection),
  operations: createOperationsList(connection),
  queue: createCallbackQueue(connection),
  calls: createCallLog(connection),
});
