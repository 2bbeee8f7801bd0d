/** Statements of a month, from the sums of every month up to it. */
import type { MonthSum } from '@tollgate/lists';
import { SumTooLarge } from '@tollgate/views';
import { ledgerAccounts, type LedgerAccount, type LedgerAmounts } from '@tollgate/books';

/** By their names, in minor units. */
type Amounts = Record<LedgerAccount, bigint>;

export type Statement = ReturnType<typeof statementOf>;

/** One for each wallet, merchant account and currency in which anything was moved until then. */
export function statementsOf(sums: readonly MonthSum[], month: string): Statement[] {
  const byHolder = Map.groupBy(sums, ({ environment, wallet, account, currency }) =>
    JSON.stringify([environment, wallet, currency, account]),
  );
  return [...byHolder]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, of]) => statementOf(of, month));
}

function statementOf(sums: readonly MonthSum[], month: string) {
  const [{ environment, wallet, account, currency }] = sums as [MonthSum];
  const isWithin = (each: MonthSum): boolean => each.month === month;
  const byKind = Map.groupBy(sums.filter(isWithin), ({ kind }) => kind);
  return {
    environment,
    wallet,
    account,
    currency,
    opening: sumOf(sums.filter((each) => !isWithin(each))),
    entries: [...byKind].map(([kind, ofKind]) => ({ kind, amounts: sumOf(ofKind) })),
    closing: sumOf(sums),
  };
}

function sumOf(sums: readonly Pick<MonthSum, 'ledgerAccount' | 'amount'>[]): Amounts {
  const amounts = allAmounts({});
  for (const { ledgerAccount, amount } of sums) amounts[ledgerAccount] += amount;
  return amounts;
}

export const allAmounts = (amounts: LedgerAmounts): Amounts =>
  Object.fromEntries(ledgerAccounts.map((name) => [name, amounts[name] ?? 0n])) as Amounts;

/** @throws SumTooLarge */
export const toPublicAmounts = (amounts: Amounts): Record<LedgerAccount, number> =>
  Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => {
      if (!Number.isSafeInteger(Number(amount))) throw new SumTooLarge('a sum of the ledger is too large');
      return [name, Number(amount)];
    }),
  ) as Record<LedgerAccount, number>;

/** @throws SumTooLarge */
export const toPublicStatement = ({ wallet, account, currency, opening, entries, closing }: Statement) => ({
  wallet,
  account,
  currency,
  opening: toPublicAmounts(opening),
  entries: entries.map(({ kind, amounts }) => ({ kind, amounts: toPublicAmounts(amounts) })),
  closing: toPublicAmounts(closing),
});
