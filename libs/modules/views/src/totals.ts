/**
 * Income, refunds and payouts of a team by day and currency: the contribution of one payment or payout, and sums of these. The
 * day is that of the creation, in UTC, and never changes.
 */
import { paymentStatuses, type PaymentStatus } from '@tollgate/core/money';
import { payoutStatusSchema, type Environment, type PayoutStatus } from '@tollgate/core';

export interface TotalsKey {
  environment: Environment;
  team: string;
  currency: string;
  /** YYYY-MM-DD, in UTC. */
  day: string;
}

export interface Sum {
  count: number;
  /** Minor units, in decimal digits: a sum may exceed the largest safe integer, and must stay exact. */
  amount: string;
}

export interface DayTotals extends TotalsKey {
  /** By status. The amount is the approved amount, or else the requested one. */
  payments: Record<PaymentStatus, Sum>;
  /** Payments with a refund (`confirmed`), or with one whose outcome is open (`reserved`). */
  refunds: { confirmed: Sum; reserved: Sum };
  payouts: Record<PayoutStatus, Sum>;
}

/** The contribution of a payment or payout; several lines if part of it was refunded. */
export interface Contribution {
  key: TotalsKey;
  lines: readonly TotalsLine[];
}

export type TotalsLine = { amount: number } & (
  | { group: 'payments'; name: PaymentStatus }
  | { group: 'refunds'; name: 'confirmed' | 'reserved' }
  | { group: 'payouts'; name: PayoutStatus }
);

export interface TotalsChange {
  key: TotalsKey;
  addTo(totals: DayTotals | undefined): DayTotals;
}

/** Changes summed up by key: a batch has many of them for a few sums. */
export function createTotalsChanges() {
  const byKey = new Map<string, { key: TotalsKey; tally: Tally }>();

  function count({ key, lines }: Contribution, sign: 1 | -1): void {
    const name = JSON.stringify([key.environment, key.team, key.currency, key.day]);
    const found = byKey.get(name) ?? { key, tally: createTally() };
    byKey.set(name, found);
    for (const line of lines) found.tally.add(line, sign);
  }

  return {
    /** Subtracts the previous contribution of a payment or payout, and adds the new one. */
    replace(before: Contribution | undefined, after: Contribution): void {
      if (before !== undefined) count(before, -1);
      count(after, 1);
    },
    list: (): TotalsChange[] =>
      [...byKey.values()].map(({ key, tally }) => ({
        key,
        addTo: (totals) => tally.addTo(totals ?? noTotals(key)),
      })),
  };
}

type Tally = ReturnType<typeof createTally>;

function createTally() {
  const byLine = new Map<string, Pick<TotalsLine, 'group' | 'name'> & { count: number; amount: bigint }>();
  return {
    add: ({ group, name, amount }: TotalsLine, sign: 1 | -1): void => {
      const key = `${group} ${name}`;
      const sum = byLine.get(key) ?? { group, name, count: 0, amount: 0n };
      sum.count += sign;
      sum.amount += BigInt(sign * amount);
      byLine.set(key, sum);
    },
    addTo: ({ payments, refunds, payouts, ...key }: DayTotals): DayTotals => {
      const sums = { payments: { ...payments }, refunds: { ...refunds }, payouts: { ...payouts } };
      for (const { group, name, count, amount } of byLine.values()) {
        const ofGroup: Record<string, Sum> = sums[group];
        const before = ofGroup[name] ?? nothing;
        ofGroup[name] = {
          count: before.count + count,
          amount: (BigInt(before.amount) + amount).toString(),
        };
      }
      return { ...key, ...sums };
    },
  };
}

const nothing: Sum = { count: 0, amount: '0' };
const nothingBy = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, nothing])) as Record<Name, Sum>;

const noTotals = (key: TotalsKey): DayTotals => ({
  ...key,
  payments: nothingBy(paymentStatuses),
  refunds: nothingBy(['confirmed', 'reserved']),
  payouts: nothingBy(payoutStatusSchema.options),
});
