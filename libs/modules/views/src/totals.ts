/**
 * Income, refunds and payouts of a team by day and currency: the contribution of one payment or payout, and their sums in the
 * public form. The day is that of the creation, in UTC, and never changes.
 */
import { paymentStatuses, type PaymentStatus } from '@tollgate/core/money';
import { payoutStatusSchema, type Environment, type PayoutStatus } from '@tollgate/core';

interface TotalsKey {
  environment: Environment;
  team: string;
  currency: string;
  /** YYYY-MM-DD, in UTC. */
  day: string;
}

/** A group, and a name in it. A payment with refunds contributes to several lines. */
type Line = `payments ${PaymentStatus}` | `refunds ${'confirmed' | 'reserved'}` | `payouts ${PayoutStatus}`;

/** The contribution of a payment or payout. */
export interface Contribution extends TotalsKey {
  /** Of a payment, the approved amount, or else the requested one. Minor units. */
  lines: readonly { line: Line; amount: number }[];
}

/** A sum over the payments or payouts of one team, day and currency. */
export interface TotalsRow extends Pick<TotalsKey, 'day' | 'currency'> {
  line: string;
  measure: 'count' | 'amount';
  sum: bigint;
}

/** A sum exceeds the exact range of JSON numbers. */
export class SumTooLarge extends RangeError {}

/**
 * Totals as teams see them: days with at least one payment or payout, earliest first, and the sums over all of them.
 *
 * @param rows by day
 * @throws SumTooLarge
 */
export const toPublicTotals = (
  rows: readonly TotalsRow[],
  /** False for keys that may not read payouts. */
  { withPayouts }: { withPayouts: boolean },
) => ({
  days: [...Map.groupBy(rows, ({ day }) => day)].map(([day, ofDay]) => ({
    day,
    currencies: byCurrency(ofDay, withPayouts),
  })),
  sums: byCurrency(rows, withPayouts),
});

const byCurrency = (rows: readonly TotalsRow[], withPayouts: boolean) =>
  [...Map.groupBy(rows, ({ currency }) => currency)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, own]) => ({
      currency,
      payments: sumsOf(own, 'payments', paymentStatuses),
      refunds: sumsOf(own, 'refunds', ['confirmed', 'reserved']),
      ...(withPayouts && { payouts: sumsOf(own, 'payouts', payoutStatusSchema.options) }),
    }));

function sumsOf(rows: readonly TotalsRow[], group: string, names: readonly string[]) {
  const sumOf = (line: string, measure: TotalsRow['measure']): number => {
    const own = rows.filter((row) => row.line === line && row.measure === measure);
    const sum = Number(own.reduce((all, row) => all + row.sum, 0n));
    if (!Number.isSafeInteger(sum)) throw new SumTooLarge('a sum of totals is too large');
    return sum;
  };
  return Object.fromEntries(
    names.map((name) => {
      const line = `${group} ${name}`;
      return [name, { count: sumOf(line, 'count'), amount: sumOf(line, 'amount') }];
    }),
  );
}
