/**
 * Sums in the index: balances, daily and monthly sums, and totals. They are updated in the transaction that writes a view: the
 * previous row shows the earlier contribution, so the difference is exact.
 */
import type { Environment } from '@tollgate/core';
import { utcDayOf } from '@tollgate/service-kit';
import type {
  Contribution,
  LedgerSource,
  SpentQuery,
  ViewEnvelope,
  ViewKind,
  WalletQuery,
  TotalsRow,
} from '@tollgate/views';
import type { LedgerAmounts, Spending, Standing } from '@tollgate/books';
import type { IndexFile } from './index-file.ts';
import type { Changed } from './index-journal.ts';
import type { Statements } from './index-rows.ts';

/** The keys of each sum. */
const sumKeys = {
  balances: ['environment', 'wallet', 'currency', 'account', 'ledger_account'],
  spent: ['environment', 'team', 'operation', 'currency', 'day', 'key_id'],
  ledger_months: [
    ...['environment', 'team', 'wallet', 'currency', 'account', 'month', 'entry_kind', 'ledger_account'],
  ],
  totals: ['environment', 'team', 'day', 'currency', 'line', 'measure'],
} as const;

export const sumTables = Object.entries(sumKeys)
  .map(
    ([table, keys]) => `CREATE TABLE ${table} (
    ${keys.map((key) => `${key} TEXT NOT NULL, `).join('')}amount TEXT NOT NULL, PRIMARY KEY (${keys.join(', ')})
  ) STRICT, WITHOUT ROWID;`,
  )
  .join('\n  ');

const balancesIn = (file: IndexFile, { environment, wallet, currency }: WalletQuery): Standing[] => {
  const rows = file.select<{ account: string; ledger_account: string; amount: string }>(
    'SELECT account, ledger_account, amount FROM balances WHERE environment = ? AND wallet = ? AND currency = ?',
    [environment, wallet, currency],
  );
  const byAccount = Map.groupBy(rows, (row) => row.account);
  return [...byAccount].map(([account, ofAccount]) => {
    const amounts = ofAccount.map((row) => [row.ledger_account, BigInt(row.amount)]);
    return { environment, wallet, currency, account, amounts: Object.fromEntries(amounts) as LedgerAmounts };
  });
};

/** The money of every wallet in each merchant account. */
export const allBalancesIn = (file: IndexFile): Standing[] =>
  file
    .select<WalletQuery>('SELECT DISTINCT environment, wallet, currency FROM balances', [])
    .flatMap((wallet) => balancesIn(file, wallet));

const spentIn = (file: IndexFile, query: SpentQuery): Pick<Spending, 'keyId' | 'amount'>[] =>
  file
    .select<{ keyId: string; amount: string }>(
      'SELECT key_id AS keyId, amount FROM spent WHERE environment = ? AND team = ? AND operation = ? AND currency = ? AND day = ?',
      [query.environment, query.team, query.operation, query.currency, query.day],
    )
    .map(({ keyId, amount }) => ({ keyId, amount: Number(amount) }));

/** @param recent reads the events that the file may lack */
export const ledgerSourceOf = (
  use: <Answer>(work: (file: IndexFile) => Answer) => Answer,
  recent: LedgerSource['recent'],
): LedgerSource => ({
  recent,
  quarantined: () => use((file) => file.quarantined()).map(({ stream }) => stream),
  find: (kind, token) => use((file) => file.find(kind, token)),
  balances: (wallet) => use((file) => balancesIn(file, wallet)),
  spent: (asked) => use((file) => spentIn(file, asked)),
  atOnce: (work) => use((file) => file.atOnce(work)),
});

/** The changes of a batch, so that each sum is written once. */
export type SumsBatch = ReturnType<typeof createSumsBatch>;

export function createSumsBatch() {
  const balances = createSums('balances');
  const spent = createSums('spent');
  const months = createSums('ledger_months');
  const totals = createSums('totals');

  function stand(standings: readonly Standing[], sign: 1n | -1n): void {
    for (const { environment, wallet, currency, account, amounts } of standings)
      for (const [name, amount] of Object.entries(amounts))
        balances.add([environment, wallet, currency, account, name], sign * amount);
  }

  function spend(spending: readonly Spending[], sign: 1n | -1n): void {
    for (const { environment, team, operation, currency, keyId, at, amount } of spending)
      spent.add([environment, team, operation, currency, utcDayOf(at), keyId], sign * BigInt(amount));
  }

  function count({ environment, team, day, currency, lines }: Contribution, sign: 1n | -1n): void {
    for (const { line, amount } of lines) {
      totals.add([environment, team, day, currency, line, 'count'], sign);
      totals.add([environment, team, day, currency, line, 'amount'], sign * BigInt(amount));
    }
  }

  function add(kind: ViewKind, view: ViewEnvelope, sign: 1n | -1n): void {
    stand(kind.standingsOf?.(view) ?? [], sign);
    spend(kind.spendingOf?.(view) ?? [], sign);
    const contribution = kind.contributionOf?.(view);
    if (contribution !== undefined) count(contribution, sign);
  }

  return {
    replace({ kind, before, after }: Changed): void {
      if (before !== undefined) add(kind, before, -1n);
      add(kind, after, 1n);
    },
    addToMonth: months.add,
    applyTo(statements: Statements): void {
      for (const sums of [balances, spent, months, totals]) sums.applyTo(statements);
    },
  };
}

function createSums(table: keyof typeof sumKeys) {
  const changes = new Map<string, bigint>();
  return {
    add(values: readonly string[], amount: bigint): void {
      const key = JSON.stringify(values);
      changes.set(key, (changes.get(key) ?? 0n) + amount);
    },
    applyTo(statements: Statements): void {
      for (const [key, amount] of changes)
        if (amount !== 0n) addTo(statements, table, JSON.parse(key) as string[], amount);
    },
  };
}

/** A sum may exceed SQLite's exact integers: it is text, added up here. */
function addTo(
  statements: Statements,
  table: keyof typeof sumKeys,
  values: readonly string[],
  amount: bigint,
): void {
  const keys = sumKeys[table];
  const where = keys.map((key) => `${key} = ?`).join(' AND ');
  const row = statements(`SELECT amount FROM ${table} WHERE ${where}`).get(...values);
  const sum = BigInt(String(row?.['amount'] ?? 0)) + amount;
  const places = keys.map(() => '?').join(', ');
  statements(`INSERT OR REPLACE INTO ${table} (${keys.join(', ')}, amount) VALUES (${places}, ?)`).run(
    ...values,
    String(sum),
  );
}

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
  const sql = `SELECT day, currency, line, measure, amount FROM totals WHERE environment = ? AND team = ? AND day >= ? AND day <= ?
    ${currency === undefined ? '' : 'AND currency = ?'} ORDER BY day`;
  const values = [environment, team, from, to, ...(currency === undefined ? [] : [currency])];
  return file
    .select<Omit<TotalsRow, 'sum'> & { amount: string }>(sql, values)
    .map(({ amount, ...row }) => ({ ...row, sum: BigInt(amount) }));
}
