/** Counts the results of an adoption run. */
import { refundedAmountOf } from '@tollgate/core';
import { type AdoptedRow, type AdoptionOutcome, adoptionOutcomes } from './adopt-row.ts';

export interface AdoptionTally {
  outcomes: Record<AdoptionOutcome, number>;
  /** Adopted by this run, by currency: minor units in decimal digits, because a sum may exceed a number. */
  sums: { currency: string; approved: string; refunded: string }[];
  recurringTokens: number;
}

export function createTally() {
  const counts = new Map<AdoptionOutcome, number>();
  const sums = new Map<string, { approved: bigint; refunded: bigint }>();
  let recurringTokens = 0;
  return {
    add({ outcome, found: { observed }, recurringToken }: AdoptedRow): void {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      if (outcome !== 'adopted') return;
      const { currency, amount, status } = observed;
      const isPaid = status === 'approved' || status === 'refunded';
      const { approved, refunded } = sums.get(currency) ?? { approved: 0n, refunded: 0n };
      sums.set(currency, {
        approved: approved + BigInt(isPaid ? amount : 0),
        refunded: refunded + BigInt(refundedAmountOf(observed) ?? 0),
      });
      if (recurringToken !== undefined) recurringTokens += 1;
    },
    sum: (): AdoptionTally => ({
      outcomes: Object.fromEntries(
        adoptionOutcomes.map((outcome) => [outcome, counts.get(outcome) ?? 0]),
      ) as Record<AdoptionOutcome, number>,
      sums: [...sums].map(([currency, { approved, refunded }]) => ({
        currency,
        approved: approved.toString(),
        refunded: refunded.toString(),
      })),
      recurringTokens,
    }),
  };
}
