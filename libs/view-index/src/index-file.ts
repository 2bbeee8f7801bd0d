/** What the index keeps in its SQLite file, and how it is read. */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { beginning, type Position } from '@tollgate/event-store';
import type { Environment, InquiryNeed } from '@tollgate/payment-domain';
import { TollgateError } from '@tollgate/service-kit';
import type { Columns, ViewEnvelope, ViewKind, ViewVersion } from '@tollgate/views';
import { viewSchemaVersions as versionsOfKinds, totalsVersions, type TotalsView } from '@tollgate/views';

const viewSchemaVersions = `${versionsOfKinds} ${totalsVersions}`;

/** How far the file has come. */
export interface IndexProgress {
  /** Position in the store of the last document or checkpoint that was taken over. */
  followed: Position;
  /** The stream that it was in, which keeps its last event: absent while there is no witness. */
  followedIn?: string;
  /** The checkpoint's position: every event up to here is in its document. */
  source: Position;
  /** As `source`, of the totals. */
  totals?: Position;
  /** What the checkpoints say that `source` was taken from, by their streams. */
  shards?: Record<string, Position>;
  /** Of the documents; absent while there are none. */
  viewVersion?: ViewVersion;
  /** The last event of a document that was taken over: the store that has it is the store that this file follows. */
  witness?: { stream: string; revision: number; position: Position };
}

/** A document and what it is. */
export interface IndexedView {
  kind: ViewKind;
  view: ViewEnvelope;
}

/** A payment or payout that is looked at again. */
export interface OpenView {
  token: string;
  /** Why it is looked at again. */
  inquiryNeed: InquiryNeed;
  environment: Environment;
  team: string;
  /** When its last event was decided, milliseconds since the Unix epoch. */
  updatedAt: number;
}

export interface IndexFile {
  progress(): IndexProgress;
  /** Takes over documents and progress in one transaction. A document older than the one here changes nothing. */
  apply(views: readonly IndexedView[], progress: IndexProgress, totals?: readonly TotalsView[]): void;
  /** @throws Unusable where an older version wrote it; so do all reads */
  find<View extends ViewEnvelope>(kind: ViewKind<View>, token: string): View | undefined;
  findByServiceToken(key: ServiceTokenKey): { token: string; team: string } | undefined;
  open(kind: ViewKind, page: { after?: string; limit: number }): OpenView[];
  /** Rows of a text that is prepared once, by position of its values. */
  select(sql: string, values: readonly (string | number)[]): Row[];
  close(): void;
}

export interface ServiceTokenKey {
  environment: Environment;
  account: string;
  serviceToken: string;
}

export type Row = Record<string, SQLOutputValue>;

/** The file cannot be used any more, and building it again helps. */
export class Unusable extends Error {}

export const indexRebuilding = (cause?: unknown): TollgateError =>
  new TollgateError('index_rebuilding', 'The index is being built again.', { retryable: true, cause });

const openViewsMax = 1_000;

/** @throws Unusable where another version wrote the documents. */
export function createIndexFile(database: DatabaseSync): IndexFile {
  const statements = createStatements(database);
  const write = createWriter(statements);
  const writeTotals = createTotalsWriter(statements);
  if (!isOfTheseVersions(statements)) throw new Unusable('another version wrote the documents of the index');
  const select: IndexFile['select'] = (sql, values) => statements(sql).all(...values);
  return {
    progress: () => {
      const { viewSchemaVersions: _, ...progress } = progressIn(statements) ?? nothingYet;
      return progress;
    },
    apply: (views, progress, totals = []) =>
      inTransaction(database, () => {
        for (const view of views) write(view);
        for (const view of totals) writeTotals(view);
        const value = JSON.stringify({ ...progress, viewSchemaVersions });
        statements('INSERT OR REPLACE INTO progress (id, value) VALUES (1, ?)').run(value);
      }),
    find: (kind, token) => {
      const row = statements(`SELECT view FROM ${kind.table.name} WHERE token = ?`).get(token);
      return row === undefined ? undefined : toView(kind, row);
    },
    findByServiceToken: ({ environment, account, serviceToken }) => {
      const sql =
        'SELECT token, team FROM payments WHERE environment = ? AND account = ? AND service_token = ? LIMIT 1';
      const row = statements(sql).get(environment, account, serviceToken);
      return row && { token: String(row['token']), team: String(row['team']) };
    },
    open: ({ table }, { after = '', limit }) => {
      const sql = `SELECT token, inquiry_need AS openWork, environment, team, updated_at AS updatedAt
        FROM ${table.name} WHERE inquiry_need IS NOT NULL AND token > ? ORDER BY token LIMIT ?`;
      return select(sql, [after, Math.min(limit, openViewsMax)]).map(toOpenView);
    },
    select,
    close: () => database.close(),
  };
}

const nothingYet = { followed: beginning, source: beginning, viewSchemaVersions };

type Statements = (sql: string) => StatementSync;

/** Prepares each text once; there are as many as there are combinations of filters. */
function createStatements(database: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}

const progressIn = (statements: Statements) => {
  const row = statements('SELECT value FROM progress').get();
  return row && (JSON.parse(String(row['value'])) as IndexProgress & { viewSchemaVersions: string });
};

function isOfTheseVersions(statements: Statements): boolean {
  const progress = progressIn(statements);
  return progress === undefined || progress.viewSchemaVersions === viewSchemaVersions;
}

/** Gives what writes a document's row and what waits for a person in it. */
function createWriter(statements: Statements): (view: IndexedView) => void {
  return (indexed) => {
    if (!writeRow(statements, indexed)) return;
    const { kind, view } = indexed;
    const { token } = view;
    statements('DELETE FROM reviews WHERE token = ?').run(token);
    const { environment, team } = kind.ownerOf(view);
    if (team === undefined) return;
    const raise = statements(
      'INSERT INTO reviews (environment, team, since, token, number, kind) VALUES (?, ?, ?, ?, ?, ?)',
    );
    for (const [number, since] of kind.reviewsSinceOf(view).entries())
      raise.run(environment, team, since, token, number, kind.name);
  };
}

/** False where the row is of a newer document. Of a row that is there only what changes is set: an index of columns that are not set is not written. */
function writeRow(statements: Statements, { kind, view }: IndexedView): boolean {
  const { name, fixedColumns, changingColumns } = kind.table;
  const { token, createdAt } = view;
  const changing = changingColumns(view);
  const names = Object.keys(changing).join(', ');
  const before = statements(`SELECT revision, ${names} FROM ${name} WHERE token = ?`).get(token);
  if (before === undefined) {
    const row = { token, ...fixedColumns(view), created_at: createdAt, ...changing };
    insert(statements, name, { ...row, ...envelopeColumnsOf(view) });
    return true;
  }
  if (view.revision < Number(before['revision'])) return false;
  const changed = Object.entries(changing).filter(([column, value]) => before[column] !== value);
  const columns = { ...Object.fromEntries(changed), ...envelopeColumnsOf(view) };
  const changes = Object.keys(columns).map((column) => `${column} = :${column}`);
  statements(`UPDATE ${name} SET ${changes.join(', ')} WHERE token = :token`).run({ ...columns, token });
  return true;
}

function insert(statements: Statements, table: string, row: Columns): void {
  const columns = Object.keys(row);
  const values = columns.map((column) => `:${column}`);
  statements(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`).run(row);
}

function createTotalsWriter(statements: Statements): (view: TotalsView) => void {
  const sql = `INSERT INTO totals (environment, team, day, currency, position, view)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (environment, team, day, currency)
    DO UPDATE SET position = excluded.position, view = excluded.view
    WHERE excluded.position >= totals.position`;
  return (view) => {
    const { environment, team, day, currency, last } = view;
    statements(sql).run(environment, team, day, currency, last.position, JSON.stringify(view));
  };
}

const envelopeColumnsOf = (view: ViewEnvelope): Columns => ({
  updated_at: view.updatedAt,
  revision: view.revision,
  view: JSON.stringify(view),
});

function inTransaction(database: DatabaseSync, write: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    write();
    database.exec('COMMIT');
  } catch (error) {
    // After a full disk SQLite has rolled back already, and a second ROLLBACK would throw.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * The document of a row. It was parsed when it was written, and the file belongs to the version that wrote it, so all that
 * is asked is whether it is one of this version's: a whole check of each would be most of what a page costs.
 *
 * @throws Unusable where it is not
 */
export function toView<View extends ViewEnvelope>({ schemaVersion }: ViewKind<View>, row: Row): View {
  const view = jsonOf(String(row['view'])) as View | undefined;
  if (view?.schemaVersion === schemaVersion) return view;
  throw new Unusable('a document of the index cannot be read');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    // What is no JSON is no document either.
    return undefined;
  }
}

const toOpenView = (row: Row): OpenView => ({
  token: String(row['token']),
  inquiryNeed: String(row['openWork']) as InquiryNeed,
  environment: String(row['environment']) as Environment,
  team: String(row['team']),
  updatedAt: Number(row['updatedAt']),
});
