/** Totals of a team, day by day, from the index. */
import { beginning, type Position } from '@tollgate/event-store';
import type { Environment } from '@tollgate/payment-domain';
import { Unusable, indexRebuilding, type IndexFile, type Row } from './index-file.ts';
import { totalsViewSchema, type TotalsView } from '@tollgate/views';

export interface TotalsQuery {
  environment: Environment;
  team: string;
  /** YYYY-MM-DD in UTC, both inclusive. */
  from: string;
  to: string;
  currency?: string;
}

/**
 * One per day and currency on which something was created, by day and then by currency.
 *
 * @param reached the position of the totals in the file
 * @throws TollgateError `index_rebuilding` until they are whole for the first time: those that are there are too small
 */
export function listTotals(file: IndexFile, query: TotalsQuery, reached: Position): TotalsView[] {
  if (reached === beginning) throw indexRebuilding();
  const { environment, team, from, to, currency } = query;
  const sql = `SELECT view FROM totals WHERE environment = ? AND team = ? AND day >= ? AND day <= ?
    ${currency === undefined ? '' : 'AND currency = ?'} ORDER BY day, currency`;
  const values = [environment, team, from, to, ...(currency === undefined ? [] : [currency])];
  return file.select(sql, values).map(toTotals);
}

/** @throws Unusable where this version cannot read it */
function toTotals(row: Row): TotalsView {
  const view = totalsViewSchema.safeParse(JSON.parse(String(row['view'])));
  if (view.success) return view.data;
  throw new Unusable('totals of the index cannot be read', { cause: view.error });
}
