/** Totals of a team, day by day. */
import type { Environment } from '@tollgate/core';
import type { TotalsRow } from '@tollgate/views';
import type { IndexFile } from './index-file.ts';

export interface TotalsQuery {
  environment: Environment;
  team: string;
  /** YYYY-MM-DD in UTC, both inclusive. */
  from: string;
  to: string;
  currency?: string;
}

/** By day; days without a creation have no rows. */
export function listTotals(file: IndexFile, query: TotalsQuery): TotalsRow[] {
  const { environment, team, from, to, currency } = query;
  const sql = `SELECT * FROM totals WHERE environment = ? AND team = ? AND day >= ? AND day <= ?
    ${currency === undefined ? '' : 'AND currency = ?'} ORDER BY day`;
  const values = [environment, team, from, to, ...(currency === undefined ? [] : [currency])];
  return file.select(sql, values).map((row) => ({
    day: String(row['day']),
    currency: String(row['currency']),
    line: String(row['line']),
    measure: row['measure'] === 'count' ? 'count' : 'amount',
    sum: BigInt(String(row['amount'])),
  }));
}
