/**
 * The ledger in the index. Balances and what was spent on a day are sums, kept in the transaction that takes a view over; the
 * journal has a row for each entry.
 */
import {
  createLedgerChanges,
  entriesOf,
  entryKindOf,
  plusAmounts,
  type Environment,
  type LedgerAccount,
  type LedgerAmounts,
  type Spending,
  type Standing,
} from '@tollgate/core';
import type { RecordedEvent } from '@tollgate/event-store';
import { utcDayOf } from '@tollgate/service-kit';
import type { SpentQuery, ViewEnvelope, ViewKind, WalletQuery } from '@tollgate/views';
import type { IndexFile } from './index-file.ts';
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

/** The postings of an entry are JSON: `[["available","-100"],…]`. */
export const journalTables = `
  CREATE TABLE journal (
    environment TEXT NOT NULL,
    wallet TEXT NOT NULL,
    position TEXT NOT NULL,
    number INTEGER NOT NULL,
    account TEXT NOT NULL,
    currency TEXT NOT NULL,
    team TEXT,
    kind TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    token TEXT NOT NULL,
    at INTEGER NOT NULL,
    postings TEXT NOT NULL,
    PRIMARY KEY (environment, wallet, position, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX journal_by_team ON journal (environment, team, position, number) WHERE team IS NOT NULL;`;

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

/** What a batch changes in the sums, so that each is written once. */
export function createLedgerBatch() {
  const balances = createLedgerChanges();
  const spent = new Map<string, bigint>();

  function spend(spending: readonly Spending[], sign: 1n | -1n): void {
    for (const { environment, team, operation, currency, keyId, at, amount } of spending) {
      const key = JSON.stringify([environment, team, operation, currency, utcDayOf(at), keyId]);
      spent.set(key, (spent.get(key) ?? 0n) + sign * BigInt(amount));
    }
  }

  return {
    replace({ kind, before, after }: Changed): void {
      balances.replace((before && kind.standingsOf?.(before)) ?? [], kind.standingsOf?.(after) ?? []);
      spend((before && kind.spendingOf?.(before)) ?? [], -1n);
      spend(kind.spendingOf?.(after) ?? [], 1n);
    },
    applyTo(statements: Statements): void {
      for (const change of balances.list()) applyToBalances(statements, change);
      for (const [key, amount] of spent)
        if (amount !== 0n) addTo(statements, 'spent', spentKeys, JSON.parse(key) as string[], amount);
    },
  };
}

const balanceKeys = ['environment', 'wallet', 'currency', 'account', 'ledger_account'];
const spentKeys = ['environment', 'team', 'operation', 'currency', 'day', 'key_id'];

function applyToBalances(statements: Statements, { amounts, ...owner }: Standing): void {
  const { environment, wallet, currency, account } = owner;
  for (const [name, amount] of Object.entries(plusAmounts({}, amounts)))
    if (amount !== 0n)
      addTo(statements, 'balances', balanceKeys, [environment, wallet, currency, account, name], amount);
}

/** A sum may be larger than what SQLite counts exactly with: it is text, added up here. */
function addTo(
  statements: Statements,
  table: 'balances' | 'spent',
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

/** Writes the journal entries of one event. */
export function writeJournal(
  statements: Statements,
  { kind, before, after }: Changed,
  event: RecordedEvent,
): void {
  if (kind.standingsOf === undefined || before === after) return;
  const entries = entriesOf((before && kind.standingsOf(before)) ?? [], kind.standingsOf(after));
  if (entries.length === 0) return;
  const { team } = kind.ownerOf(after);
  const insert = statements('INSERT OR IGNORE INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (const [number, { environment, wallet, account, currency, postings }] of entries.entries())
    insert.run(
      environment,
      wallet,
      event.position,
      number,
      account,
      currency,
      team ?? null,
      entryKindOf(kind.name as 'payment' | 'payout' | 'transfer', event.type),
      event.id,
      event.type,
      after.token,
      after.updatedAt,
      JSON.stringify(postings.map(({ ledgerAccount, amount }) => [ledgerAccount, String(amount)])),
    );
}

/** Postings as a row of the journal keeps them. */
export const parsePostings = (text: string): [LedgerAccount, bigint][] =>
  (JSON.parse(text) as [LedgerAccount, string][]).map(([name, amount]) => [name, BigInt(amount)]);
