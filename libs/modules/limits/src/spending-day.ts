/** What was asked for on one day under one limit. Pure. */
import { amountSchema } from '@tollgate/core/money';
import { z } from 'zod';

export const spendingEventSchemas = {
  AmountReserved: z.object({
    /** Of the payment, refund or payout: a repeat reserves once. */
    token: z.string(),
    /** The payment or payout that it is found in. */
    subject: z.string(),
    amount: amountSchema,
    /** From then on, milliseconds since the Unix epoch, what is not recorded does not count. */
    lapsesAt: z.int(),
  }),
  /** Nothing came of them. */
  AmountsReleased: z.object({ tokens: z.array(z.string()) }),
} as const;
export type AmountReserved = z.infer<typeof spendingEventSchemas.AmountReserved>;

/** Changed in place: a day may have many thousands of entries, and a copy for each would cost more than all else. */
export interface SpendingDay {
  reserve(entry: AmountReserved): void;
  release(tokens: readonly string[]): void;
  /** What counts, minor units. */
  used(): bigint;
  find(token: string): AmountReserved | undefined;
  /** Those of which it is not known that they stay, those that were looked at longest ago first. */
  undecided(limit: number): AmountReserved[];
  /** They stay: they are not looked at again. */
  settle(tokens: readonly string[]): void;
}

export function createSpendingDay(): SpendingDay {
  const entries = new Map<string, AmountReserved>();
  const open = new Map<string, AmountReserved>();
  let used = 0n;

  function release(tokens: readonly string[]): void {
    for (const token of tokens) {
      used -= BigInt(entries.get(token)?.amount ?? 0);
      entries.delete(token);
      open.delete(token);
    }
  }

  return {
    reserve(entry) {
      release([entry.token]);
      entries.set(entry.token, entry);
      open.set(entry.token, entry);
      used += BigInt(entry.amount);
    },
    release,
    used: () => used,
    find: (token) => entries.get(token),
    undecided(limit) {
      const first = [...open.values().take(limit)];
      for (const entry of first) {
        open.delete(entry.token);
        open.set(entry.token, entry);
      }
      return first;
    },
    settle: (tokens) => tokens.forEach((token) => open.delete(token)),
  };
}
