/** Totals as teams see them. */
import type { PaymentStatus } from '@tollgate/core/money';
import type { PayoutStatus } from '@tollgate/core';
import type { DayTotals as TotalsView, Sum } from './totals.ts';

interface PublicSum {
  count: number;
  /** Minor units. */
  amount: number;
}

interface PublicCurrencyTotals {
  currency: string;
  payments: Record<PaymentStatus, PublicSum>;
  refunds: Record<'confirmed' | 'reserved', PublicSum>;
  /** Absent for keys that may not read payouts. */
  payouts?: Record<PayoutStatus, PublicSum>;
}

export interface PublicTotals {
  /** Days with at least one payment or payout, earliest first. */
  days: { day: string; currencies: PublicCurrencyTotals[] }[];
  /** Over all days, by currency. */
  sums: PublicCurrencyTotals[];
}

type Counted = Pick<TotalsView, 'currency' | 'payments' | 'refunds' | 'payouts'>;

/** A sum exceeds the exact range of JSON numbers. */
export class SumTooLarge extends RangeError {}

/** @param views by day and then by currency. @throws SumTooLarge */
export function toPublicTotals(
  views: readonly TotalsView[],
  { withPayouts }: { withPayouts: boolean },
): PublicTotals {
  const toShown = (each: Counted) => toPublicCurrencyTotals(each, withPayouts);
  const byDay = Map.groupBy(views, ({ day }) => day);
  const byCurrency = Map.groupBy(views, ({ currency }) => currency);
  return {
    days: [...byDay].map(([day, ofDay]) => ({ day, currencies: ofDay.map(toShown) })),
    sums: [...byCurrency]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, ofCurrency]) => toShown(ofCurrency.reduce<Counted>(plus, emptyOf(ofCurrency)))),
  };
}

function toPublicCurrencyTotals(
  { currency, payments, refunds, payouts }: Counted,
  withPayouts: boolean,
): PublicCurrencyTotals {
  const shown = { currency, payments: map(payments, toPublicSum), refunds: map(refunds, toPublicSum) };
  return withPayouts ? { ...shown, payouts: map(payouts, toPublicSum) } : shown;
}

function toPublicSum({ count, amount }: Sum): PublicSum {
  if (!Number.isSafeInteger(Number(amount))) throw new SumTooLarge('a sum of totals is too large');
  return { count, amount: Number(amount) };
}

const plus = (one: Counted, other: Counted): Counted => ({
  currency: other.currency,
  payments: map(one.payments, (sum, name) => added(sum, other.payments[name])),
  refunds: map(one.refunds, (sum, name) => added(sum, other.refunds[name])),
  payouts: map(one.payouts, (sum, name) => added(sum, other.payouts[name])),
});

const added = (one: Sum, other: Sum): Sum => ({
  count: one.count + other.count,
  amount: (BigInt(one.amount) + BigInt(other.amount)).toString(),
});

const nothing = (): Sum => ({ count: 0, amount: '0' });

/** Zeros under the names of the public totals. */
function emptyOf([first]: readonly TotalsView[]): Counted {
  if (first === undefined) throw new RangeError('a group must not be empty');
  const { currency, payments, refunds, payouts } = first;
  return {
    currency,
    payments: map(payments, nothing),
    refunds: map(refunds, nothing),
    payouts: map(payouts, nothing),
  };
}

const map = <Name extends string, From, To>(
  values: Record<Name, From>,
  change: (value: From, name: Name) => To,
): Record<Name, To> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, change(value as From, name as Name)]),
  ) as Record<Name, To>;
