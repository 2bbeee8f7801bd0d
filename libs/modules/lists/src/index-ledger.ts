/** The ledger in the index: balances, daily sums, and monthly changes, updated in the transaction that writes a view. */
import type { Environment, LedgerAmounts, Spending, Standing } from '@tollgate/core';
import { utcDayOf } from '@tollgate/service-kit';
import type { SpentQuery, ViewEnvelope, ViewKind, WalletQuery } from '@tollgate/views';
import type { IndexFile } from './index-file.ts';
import { monthKeys } from './index-journal.ts';
import type { Statements } from './index-rows.ts';

export const ledgerTables = `
  CREATE TABLE balances (
    environment TEXT NOT NULL,
    wallet TEXT NOT NULL,
    currency TEXT NOT NULL,
    account TEXT NOT NULL,
    ledger_account TEXT NOT NULL,
    amount TEXT NOT NULL,
    PRIMARY KEY (environment, wallet, currency, account, ledger_account)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE spent (
    environment TEXT NOT NULL,
    team TEXT NOT NULL,
    operation TEXT NOT NULL,
    currency TEXT NOT NULL,
    day TEXT NOT NULL,
    key_id TEXT NOT NULL,
    amount TEXT NOT NULL,
    PRIMARY KEY (environment, team, operation, currency, day, key_id)
  ) STRICT, WITHOUT ROWID;`;

export const balancesIn = (file: IndexFile, { environment, wallet, currency }: WalletQuery): Standing[] => {
  const rows = file.select(
    'SELECT account, ledger_account, amount FROM balances WHERE environment = ? AND wallet = ? AND currency = ?',
    [environment, wallet, currency],
  );
  const byAccount = Map.groupBy(rows, (row) => String(row['account']));
  return [...byAccount].map(([account, ofAccount]) => {
    const amounts = ofAccount.map((row) => [row['ledger_account'], BigInt(String(row['amount']))]);
    return { environment, wallet, currency, account, amounts: Object.fromEntries(amounts) as LedgerAmounts };
  });
};

export const allBalancesIn = (file: IndexFile): Standing[] =>
  file.select('SELECT DISTINCT environment, wallet, currency FROM balances', []).flatMap((row) =>
    balancesIn(file, {
      environment: row['environment'] as Environment,
      wallet: String(row['wallet']),
      currency: String(row['currency']),
    }),
  );

export const spentIn = (file: IndexFile, query: SpentQuery): Pick<Spending, 'keyId' | 'amount'>[] =>
  file
    .select(
      'SELECT key_id, amount FROM spent WHERE environment = ? AND team = ? AND operation = ? AND currency = ? AND day = ?',
      [query.environment, query.team, query.operation, query.currency, query.day],
    )
    .map((row) => ({ keyId: String(row['key_id']), amount: Number(row['amount']) }));

interface Changed {
  kind: ViewKind;
  before: ViewEnvelope | undefined;
  after: ViewEnvelope;
}

/** The changes of a batch, so that each sum is written once. */
export function createLedgerBatch() {
  const balances = createSums('balances', balanceKeys);
  const spent = createSums('spent', spentKeys);
  const months = createSums('ledger_months', monthKeys);

  function stand(standings: readonly Standing[], sign: 1n | -1n): void {
    for (const { environment, wallet, currency, account, amounts } of standings)
      for (const [name, amount] of Object.entries(amounts))
        balances.add([environment, wallet, currency, account, name], sign * amount);
  }

  function spend(spending: readonly Spending[], sign: 1n | -1n): void {
    for (const { environment, team, operation, currency, keyId, at, amount } of spending)
      spent.add([environment, team, operation, currency, utcDayOf(at), keyId], sign * BigInt(amount));
  }

  return {
    replace({ kind, before, after }: Changed): void {
      stand((before && kind.standingsOf?.(before)) ?? [], -1n);
      stand(kind.standingsOf?.(after) ?? [], 1n);
      spend((before && kind.spendingOf?.(before)) ?? [], -1n);
      spend(kind.spendingOf?.(after) ?? [], 1n);
    },
    addToMonth: months.add,
    applyTo(statements: Statements): void {
      for (const sums of [balances, spent, months]) sums.applyTo(statements);
    },
  };
}

const balanceKeys = ['environment', 'wallet', 'currency', 'account', 'ledger_account'];
const spentKeys = ['environment', 'team', 'operation', 'currency', 'day', 'key_id'];

function createSums(table: 'balances' | 'spent' | 'ledger_months', keys: readonly string[]) {
  const changes = new Map<string, bigint>();
  return {
    add(values: readonly string[], amount: bigint): void {
      const key = JSON.stringify(values);
      changes.set(key, (changes.get(key) ?? 0n) + amount);
    },
    applyTo(statements: Statements): void {
      for (const [key, amount] of changes)
        if (amount !== 0n) addTo(statements, table, keys, JSON.parse(key) as string[], amount);
    },
  };
}

/** A sum may exceed SQLite's exact integers: it is text, added up here. */
function addTo(
  statements: Statements,
  table: string,
  keys: readonly string[],
  values: readonly string[],
  amount: bigint,
): void {
  const where = keys.map((key) => `${key} = ?`).join(' AND ');
  const row = statements(`SELECT amount FROM ${table} WHERE ${where}`).get(...values);
  const sum = BigInt(String(row?.['amount'] ?? 0)) + amount;
  const places = keys.map(() => '?').join(', ');
  statements(`INSERT OR REPLACE INTO ${table} (${keys.join(', ')}, amount) VALUES (${places}, ?)`).run(
    ...values,
    String(sum),
  );
}
