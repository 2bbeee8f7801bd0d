import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from '../payments.ts';
import { toCondition, toPayment, type PaymentFilter } from './payments-table.ts';
import { toPayout, type Payout } from './records-table.ts';

/** An entry of a list that may hold payments and payouts. */
type ListedOperation = { payment: Payment; payout?: never } | { payout: Payout; payment?: never };

/** Which of the two a list shows, by `operationType` of `GET /payments`. */
type OperationType = 'pays' | 'payouts' | 'all';

/** Pages of payments and payouts together, newest first. */
export interface OperationsList {
  list(
    type: OperationType,
    filter: PaymentFilter,
    page: { offset: number; limit: number },
  ): ListedOperation[];
  count(type: OperationType, filter: PaymentFilter): number;
}

const tablesOf = { pays: ['payments'], payouts: ['payouts'], all: ['payments', 'payouts'] } as const;

export function createOperationsList(connection: DatabaseSync): OperationsList {
  return {
    list: (type, filter, { offset, limit }) => {
      const { where, values } = toCondition(filter);
      const tables = tablesOf[type];
      const parts = tables.map(
        (table) => `SELECT '${table}' AS kind, id, created_at, record FROM ${table} ${where}`,
      );
      // One table is in the order of its ids; of two, only the times can be compared.
      const order = tables.length === 1 ? 'id DESC' : 'created_at DESC, kind, id DESC';
      const sql = `${parts.join(' UNION ALL ')} ORDER BY ${order} LIMIT ? OFFSET ?`;
      const rows = connection.prepare(sql).all(...tables.flatMap(() => values), limit, offset);
      return rows.map((row) =>
        row['kind'] === 'payouts' ? { payout: toPayout(row) } : { payment: toPayment(row) },
      );
    },
    count: (type, filter) => {
      const { where, values } = toCondition(filter);
      const counts = tablesOf[type].map((table) => {
        const row = connection.prepare(`SELECT count(*) AS count FROM ${table} ${where}`).get(...values);
        return Number(row?.['count']);
      });
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
