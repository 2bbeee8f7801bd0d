/** What the index keeps in its SQLite file, and how it is read. */
import type { DatabaseSync } from 'node:sqlite';
import { beginning, type Position } from '@tollgate/event-store';
import { nextInquiryAt, type Environment, type Postponed } from '@tollgate/payment-domain';
import { TollgateError } from '@tollgate/service-kit';
import {
  totalsVersion,
  viewSchemaVersions as versionsOfKinds,
  type ViewCheckpoint,
  type ViewEnvelope,
  type ViewKind,
  type ViewVersion,
} from '@tollgate/views';
import { createQueueHeads, postponeIn, type DueAt, type QueueHead } from './index-inquiries.ts';
import type { IndexScope } from './index-schema.ts';
import { Unusable, createStatements, toView, type Row, type Statements } from './index-rows.ts';
import { writeViews, type IndexedView } from './index-writer.ts';

const viewSchemaVersions = `${versionsOfKinds} totals:${totalsVersion}`;

/** How far the file has come. */
export interface IndexProgress {
  /** Position in the store of the last view or checkpoint that was indexed. */
  followed: Position;
  /** The stream that it was in, which keeps its last event: absent while there is no witness. */
  followedIn?: string;
  /** The checkpoint's position: every event up to here is in its view. */
  source: Position;
  /** What the checkpoints say that `source` was taken from, by their streams. */
  shards?: Record<string, ViewCheckpoint>;
  /** Streams whose views do not have every event up to `source`: the projector has set them aside. */
  setAside?: readonly string[];
  /** View version of the views; absent while there are none. */
  viewVersion?: ViewVersion;
  /** The last view event that was indexed: the store that has it is the store that this file follows. */
  witness?: { stream: string; revision: number; position: Position };
}

export interface IndexFile {
  progress(): IndexProgress;
  /**
   * Writes views, their changes of the totals, and the progress in one transaction. A view older than the one
   * here changes nothing.
   */
  apply(views: readonly IndexedView[], progress: IndexProgress): void;
  /** @throws Unusable if an older version wrote it; so do all reads */
  find<View extends ViewEnvelope>(kind: ViewKind<View>, token: string): View | undefined;
  /** `length` is that of the stored text, in characters. */
  findMeasured<View extends ViewEnvelope>(
    kind: ViewKind<View>,
    token: string,
  ): { view: View; length: number } | undefined;
  findByServiceToken(key: ServiceTokenKey): { token: string; team: string } | undefined;
  /** The queues of inquiries of a shard, due or not, each with its oldest due time. */
  queues: (shard: number) => readonly QueueHead[];
  /** Moves due times of inquiries, in one transaction. */
  postpone(postponed: readonly Postponed[]): void;
  /** What is read in between is of one moment, even while others write. */
  atOnce<Answer>(read: () => Answer): Answer;
  /** Rows of a text that is prepared once, by position of its values. */
  select(sql: string, values: readonly (string | number)[]): Row[];
  close(): void;
}

interface ServiceTokenKey {
  environment: Environment;
  account: string;
  serviceToken: string;
}

export const indexRebuilding = (cause?: unknown): TollgateError =>
  new TollgateError('index_rebuilding', 'The index is rebuilding.', { retryable: true, cause });

export interface IndexFileOptions {
  /** When a row is first inquired; counted from its last change unless given. */
  dueAt?: DueAt | undefined;
  /** `lists` unless given. A file keeps the one that it was made with. */
  scope?: IndexScope | undefined;
}

/** @throws Unusable if another version wrote the views. */
export function createIndexFile(
  database: DatabaseSync,
  { dueAt = dueByItself, scope = 'lists' }: IndexFileOptions = {},
): IndexFile {
  const statements = createStatements(database);
  if (!isOfTheseVersions(statements)) throw new Unusable('another version wrote the views of the index');
  const select: IndexFile['select'] = (sql, values) => statements(sql).all(...values);
  const findMeasured: IndexFile['findMeasured'] = (kind, token) => {
    const row = statements(`SELECT view FROM ${kind.table.name} WHERE token = ?`).get(token);
    return row && { view: toView(kind, row), length: String(row['view']).length };
  };
  const heads = createQueueHeads(select);
  return {
    progress: () => {
      const { viewSchemaVersions: _, ...progress } = progressIn(statements) ?? nothingYet;
      return progress;
    },
    apply: (views, progress) => {
      for (const { view } of views) heads.forgetOf(view.token);
      inTransaction(database, () => {
        writeViews(statements, views, { dueAt, scope });
        const value = JSON.stringify({ ...progress, viewSchemaVersions });
        statements('INSERT OR REPLACE INTO progress (id, value) VALUES (1, ?)').run(value);
      });
    },
    find: (kind, token) => findMeasured(kind, token)?.view,
    findMeasured,
    findByServiceToken: ({ environment, account, serviceToken }) => {
      const sql =
        'SELECT token, team FROM payments WHERE environment = ? AND account = ? AND service_token = ? LIMIT 1';
      const row = statements(sql).get(environment, account, serviceToken);
      return row && { token: String(row['token']), team: String(row['team']) };
    },
    queues: heads.of,
    postpone: (postponed) => {
      for (const { item } of postponed) heads.forgetOf(item.token);
      inTransaction(database, () => postponeIn(statements, postponed));
    },
    atOnce: (read) => inTransaction(database, read, 'BEGIN'),
    select,
    close: () => database.close(),
  };
}

const dueByItself: DueAt = (item) => nextInquiryAt(item, item.updatedAt);

const nothingYet = { followed: beginning, source: beginning, viewSchemaVersions };

const progressIn = (statements: Statements) => {
  const row = statements('SELECT value FROM progress').get();
  return row && (JSON.parse(String(row['value'])) as IndexProgress & { viewSchemaVersions: string });
};

function isOfTheseVersions(statements: Statements): boolean {
  const progress = progressIn(statements);
  return progress === undefined || progress.viewSchemaVersions === viewSchemaVersions;
}

function inTransaction<Result>(
  database: DatabaseSync,
  work: () => Result,
  begin = 'BEGIN IMMEDIATE',
): Result {
  database.exec(begin);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After a full disk SQLite has rolled back already, and a second ROLLBACK would throw; a reader closes a damaged file at once.
    if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
