/** What the index keeps in its SQLite file, and how it is read. */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { beginning, type Position } from '@tollgate/event-store';
import { isFinalPhase, statusOfPhase, type Environment, type PaymentPhase } from '@tollgate/payment-domain';
import { paymentDocumentSchema, type PaymentDocument } from './payment-document.ts';
import {
  formatCursor,
  pageOf,
  toCondition,
  totalCountMax,
  type Condition,
  type OpenPayment,
  type PaymentList,
  type PaymentListQuery,
} from './payment-list.ts';

/** How far the file has come. */
export interface IndexProgress {
  /** Position in the store of the last document or checkpoint that was taken over. */
  followed: Position;
  /** The checkpoint's position: every event of a payment up to here is in its document. */
  source: Position;
  /** The document that was taken over last: the store that has its last event is the store that this file follows. */
  witness?: { token: string; revision: number; position: Position };
}

export interface PaymentIndexFile {
  progress(): IndexProgress;
  /** Takes over documents and progress in one transaction. A document older than the one here changes nothing. */
  apply(documents: readonly PaymentDocument[], progress: IndexProgress): void;
  find(token: string): PaymentDocument | undefined;
  list(query: PaymentListQuery): PaymentList;
  openPayments(options: { after?: string; limit: number }): OpenPayment[];
  close(): void;
}

const openPaymentsMax = 1_000;

export function createPaymentIndexFile(database: DatabaseSync): PaymentIndexFile {
  const statements = createStatements(database);
  const upsert = database.prepare(upsertSql);
  return {
    progress: () => {
      const row = statements('SELECT value FROM progress').get();
      return row === undefined
        ? { followed: beginning, source: beginning }
        : (JSON.parse(String(row['value'])) as IndexProgress);
    },
    apply: (documents, progress) =>
      inTransaction(database, () => {
        for (const document of documents) upsert.run(toRow(document));
        statements('INSERT OR REPLACE INTO progress (id, value) VALUES (1, ?)').run(JSON.stringify(progress));
      }),
    find: (token) => {
      const row = statements('SELECT document FROM payments WHERE token = ?').get(token);
      return row === undefined ? undefined : toDocument(row);
    },
    list: (query) => list(statements, query),
    openPayments: ({ after = '', limit }) => {
      const sql = `SELECT token, phase, environment, team, updated_at AS updatedAt FROM payments
        WHERE is_open = 1 AND token > ? ORDER BY token LIMIT ?`;
      return statements(sql).all(after, Math.min(limit, openPaymentsMax)).map(toOpenPayment);
    },
    close: () => database.close(),
  };
}

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

// Columns of terms never change, so that their indexes are not written again.
const upsertSql = `
  INSERT INTO payments (token, environment, team, status, phase, order_number, currency, attention, is_open,
    created_at, updated_at, revision, document)
  VALUES (:token, :environment, :team, :status, :phase, :orderNumber, :currency, :attention, :isOpen,
    :createdAt, :updatedAt, :revision, :document)
  ON CONFLICT (token) DO UPDATE SET status = excluded.status, phase = excluded.phase, attention = excluded.attention,
    is_open = excluded.is_open, updated_at = excluded.updated_at, revision = excluded.revision,
    document = excluded.document
  WHERE excluded.revision >= payments.revision`;

function toRow(document: PaymentDocument): Record<string, SQLInputValue> {
  const { token, payment, createdAt, updatedAt, revision } = document;
  const { environment, team, phase, terms, attention } = payment;
  const isLookedAt = !isFinalPhase(phase) || attention.some(({ code }) => code === 'callback_not_applied');
  const isOpen = isLookedAt ? 1 : 0;
  return {
    ...{ token, environment, team, phase, status: statusOfPhase(phase), currency: terms.currency },
    ...{ orderNumber: terms.orderNumber ?? null, attention: attention.length > 0 ? 1 : 0, isOpen },
    ...{ createdAt, updatedAt, revision, document: JSON.stringify(document) },
  };
}

type Row = Record<string, SQLOutputValue>;

const toDocument = (row: Row): PaymentDocument =>
  paymentDocumentSchema.parse(JSON.parse(String(row['document'])));

const toOpenPayment = (row: Row): OpenPayment => ({
  token: String(row['token']),
  phase: String(row['phase']) as PaymentPhase,
  environment: String(row['environment']) as Environment,
  team: String(row['team']),
  updatedAt: Number(row['updatedAt']),
});

function list(statements: Statements, query: PaymentListQuery): PaymentList {
  const page = pageOf(query);
  if (page.kind === 'refused') return page;
  const condition = toCondition(query);
  const rows = selectPage(statements, condition, { ...page, limit: query.perPage + 1 });
  const documents = rows.slice(0, query.perPage).map(toDocument);
  const last = documents.at(-1);
  return {
    kind: 'page',
    documents,
    ...(rows.length > query.perPage && last !== undefined ? { nextCursor: formatCursor(query, last) } : {}),
    ...(query.withTotal === true ? { totalCount: count(statements, condition) } : {}),
  };
}

function selectPage(
  statements: Statements,
  { sql, values }: Condition,
  { after, skip, limit }: { after?: { createdAt: number; token: string }; skip: number; limit: number },
): Row[] {
  const sqlAfter = after === undefined ? '' : 'AND (created_at, token) < (?, ?)';
  const valuesAfter = after === undefined ? [] : [after.createdAt, after.token];
  const text = `SELECT document FROM payments WHERE ${sql} ${sqlAfter}
    ORDER BY created_at DESC, token DESC LIMIT ? OFFSET ?`;
  return statements(text).all(...values, ...valuesAfter, limit, skip);
}

function count(statements: Statements, { sql, values }: Condition): number {
  const text = `SELECT count(*) AS total FROM (SELECT 1 FROM payments WHERE ${sql} LIMIT ${totalCountMax})`;
  return Number(statements(text).get(...values)?.['total']);
}
