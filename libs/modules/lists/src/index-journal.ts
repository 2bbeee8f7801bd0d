/**
 * The journal in the index: a row for each entry, and monthly sums for statements. The journal of a team has the team's own
 * entries, and those in a wallet that it does not share.
 */
import type { Position, RecordedEvent } from '@tollgate/event-store';
import { journalOf, type JournalRow, type ViewEnvelope, type ViewKind } from '@tollgate/views';
import type { EntryKind, LedgerAccount, LedgerOwner } from '@tollgate/books';
import type { IndexFile } from './index-file.ts';
import { ageTerms, walkOf, type Term, type Walk } from './index-filters.ts';
import { listRows } from './index-lists.ts';
import type { Statements } from './index-rows.ts';
import type { ListOwner, ListOrder, OfOwners, PageQuery, Place, ViewList } from './list-page.ts';

/**
 * The key of an entry is the position of its event and its number there. `team` is empty for entries without a team in a shared
 * wallet. The postings are JSON: `[["available","-100"],…]`.
 */
export const journalTables = `
  CREATE TABLE journal (
    environment TEXT NOT NULL,
    wallet TEXT NOT NULL,
    team TEXT NOT NULL,
    at INTEGER NOT NULL,
    key TEXT NOT NULL,
    account TEXT NOT NULL,
    currency TEXT NOT NULL,
    entry_kind TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    subject TEXT NOT NULL,
    part TEXT,
    postings TEXT NOT NULL,
    PRIMARY KEY (environment, wallet, team, at, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX journal_by_team ON journal (environment, team, at, key);
  CREATE INDEX journal_by_subject ON journal (environment, team, subject, at, key);
  CREATE INDEX journal_by_part ON journal (environment, team, part, at, key) WHERE part IS NOT NULL;`;

/** One change of a view. */
export interface Changed {
  kind: ViewKind;
  before: ViewEnvelope | undefined;
  after: ViewEnvelope;
}

/** Writes the entries of one event. @param addToMonth adds an amount under the keys of `ledger_months` */
export function writeJournal(
  statements: Statements,
  { kind, before, after }: Changed,
  event: RecordedEvent,
  addToMonth: (keys: readonly string[], amount: bigint) => void,
): void {
  const insert = statements('INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (const entry of journalOf(kind, { before, after }, event)) {
    const { environment, wallet, account, currency, team = '', at, kind: entryKind, postings } = entry;
    const month = monthOf(at);
    insert.run(
      ...[environment, wallet, team, at, `${entry.position}~${entry.number}`, account, currency],
      ...[entryKind, entry.eventId, entry.eventType, entry.subject, entry.part ?? null],
      JSON.stringify(postings.map(([ledgerAccount, amount]) => [ledgerAccount, String(amount)])),
    );
    for (const [ledgerAccount, amount] of postings)
      addToMonth([environment, team, wallet, currency, account, month, entryKind, ledgerAccount], amount);
  }
}

/** `YYYY-MM`, in UTC. */
const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);

interface JournalQuery extends PageQuery {
  currency?: string;
  kind?: EntryKind;
  /** Only entries with a posting to it. */
  ledgerAccount?: LedgerAccount;
  /** The merchant account. */
  account?: string;
  wallet?: string;
  /** Of the payment, refund, payout, dispute or transfer. */
  token?: string;
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom?: number;
  /** Exclusive. */
  createdBefore?: number;
  order?: ListOrder;
}

/** `owners` with an empty team: entries without a team in a shared wallet. */
export function listJournal(
  file: IndexFile,
  { owners, ...query }: OfOwners<JournalQuery>,
): ViewList<JournalRow> {
  const { currency, kind, ledgerAccount, account } = query;
  return listRows<JournalRow>(file, {
    list: 'journal',
    owners,
    query,
    tables: [
      {
        name: 'journal',
        table: { name: 'journal' },
        walks: (asked, after) => walksOf({ ...query, ...asked }, after),
      },
    ],
    entryOf: (row) => ({
      entry: toEntry(row as unknown as StoredEntry),
      length: String(row['postings']).length,
    }),
    accepts: (entry) =>
      (currency === undefined || entry.currency === currency) &&
      (kind === undefined || entry.kind === kind) &&
      (account === undefined || entry.account === account) &&
      (ledgerAccount === undefined || entry.postings.some(([name]) => name === ledgerAccount)),
  });
}

const entryColumns = `environment, wallet, account, currency, team, entry_kind AS kind, event_id AS eventId,
  event_type AS eventType, subject, part, at, key, postings`;

/** Led by the most selective filter; the others are checked for each row. */
function walksOf(query: JournalQuery, after: Place | undefined): Walk[] {
  const { environment, team, wallet, token } = query;
  const walk = (index: string, ...lead: Term[]): Walk =>
    walkOf(`SELECT at AS created_at, key AS token, ${entryColumns} FROM journal ${index}`, [
      ['environment = ?', environment],
      ...lead,
      ['team = ?', team],
      ...ageTerms(query, after, { at: 'at', key: 'key' }),
    ]);
  const inWallet: Term[] = wallet === undefined ? [] : [['wallet = ?', wallet]];
  if (token !== undefined)
    return [
      walk('INDEXED BY journal_by_subject', ['subject = ?', token], ...inWallet),
      walk('INDEXED BY journal_by_part', ['part = ?', token], ...inWallet),
    ];
  return [wallet === undefined ? walk('INDEXED BY journal_by_team') : walk('', ...inWallet)];
}

function toEntry({ created_at: _, token: __, key, team, part, postings, ...entry }: StoredEntry): JournalRow {
  const [position, number] = key.split('~');
  return {
    ...entry,
    ...(team !== '' && { team }),
    ...(part !== null && { part }),
    number: Number(number),
    position: position as Position,
    postings: parsePostings(postings),
  };
}

/** As `walksOf` selects it. */
type StoredEntry = Omit<JournalRow, 'team' | 'part' | 'number' | 'position' | 'postings'> &
  Record<'created_at' | 'token' | 'key' | 'team' | 'postings', string> & { part: string | null };

/** Postings in a row of the journal. */
export const parsePostings = (text: string): [LedgerAccount, bigint][] =>
  (JSON.parse(text) as [LedgerAccount, string][]).map(([name, amount]) => [name, BigInt(amount)]);

export interface MonthQuery {
  /** As for {@link listJournal}. */
  owners: readonly ListOwner[];
  /** `YYYY-MM`, in UTC: the last month to read. */
  month: string;
  currency?: string;
  wallet?: string;
}

/** The change of one ledger account by entries of one kind within a month. */
export interface MonthSum extends LedgerOwner {
  month: string;
  kind: EntryKind;
  ledgerAccount: LedgerAccount;
  amount: bigint;
}

/** The sums of every month up to this one: a few rows per month, however many entries it has. */
export const monthSumsIn = (file: IndexFile, { owners, month, currency, wallet }: MonthQuery): MonthSum[] =>
  owners.flatMap(({ environment, team }) => {
    const { sql, values } = walkOf(`SELECT ${monthColumns} FROM ledger_months`, [
      ['environment = ?', environment],
      ['team = ?', team],
      ...(wallet === undefined ? [] : [['wallet = ?', wallet] satisfies Term]),
      ...(currency === undefined ? [] : [['currency = ?', currency] satisfies Term]),
      ['month <= ?', month],
    ]);
    return file
      .select<Omit<MonthSum, 'amount'> & { amount: string }>(sql, values)
      .map(({ amount, ...sum }) => ({ ...sum, amount: BigInt(amount) }));
  });

const monthColumns =
  'environment, wallet, account, currency, month, entry_kind AS kind, ledger_account AS ledgerAccount, amount';
