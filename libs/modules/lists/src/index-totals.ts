/**
 * Totals of a team, day by day. They are updated in the transaction that writes a view: the previous row shows the earlier
 * contribution of the payment or payout, so the difference is exact.
 */
import type { Environment } from '@tollgate/core';
import type { DayTotals, TotalsChange } from '@tollgate/views';
import type { IndexFile } from './index-file.ts';
import { parseStored, type Row, type Statements } from './index-rows.ts';

export interface TotalsQuery {
  environment: Environment;
  team: string;
  /** YYYY-MM-DD in UTC, both inclusive. */
  from: string;
  to: string;
  currency?: string;
}

/** One per day and currency with a creation, by day and then by currency. */
export function listTotals(file: IndexFile, query: TotalsQuery): DayTotals[] {
  const { environment, team, from, to, currency } = query;
  const sql = `SELECT totals FROM totals WHERE environment = ? AND team = ? AND day >= ? AND day <= ?
    ${currency === undefined ? '' : 'AND currency = ?'} ORDER BY day, currency`;
  const values = [environment, team, from, to, ...(currency === undefined ? [] : [currency])];
  return file.select(sql, values).map(toTotals);
}

export function applyToTotals(statements: Statements, changes: readonly TotalsChange[]): void {
  const find = 'SELECT totals FROM totals WHERE environment = ? AND team = ? AND day = ? AND currency = ?';
  const write =
    'INSERT OR REPLACE INTO totals (environment, team, day, currency, totals) VALUES (?, ?, ?, ?, ?)';
  for (const { key, addTo } of changes) {
    const values = [key.environment, key.team, key.day, key.currency];
    const row = statements(find).get(...values);
    const totals = addTo(row && toTotals(row));
    statements(write).run(...values, JSON.stringify(totals));
  }
}

const toTotals = ({ totals }: Row): DayTotals => parseStored(totals) as DayTotals;
