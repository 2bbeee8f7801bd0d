/** The contents of the index in its SQLite file. */
import type { DatabaseSync } from 'node:sqlite';
import { type RecordedEvent, inTransaction } from '@tollgate/event-store';
import { nextInquiryAt, type Postponed } from '@tollgate/core';
import type { Log } from '@tollgate/service-kit';
import type { ViewEnvelope, ViewKind } from '@tollgate/views';
import { postponeIn, type DueAt } from './index-inquiries.ts';
import { createStatements, toView, type Row } from './index-rows.ts';
import { applyEvents, quarantinedIn, retryStream, writeViews, type IndexedView } from './index-writer.ts';

export interface IndexFile {
  /** Call in a transaction. */
  apply(events: readonly RecordedEvent[]): void;
  /** Writes views regardless of the events. Call in a transaction. */
  write(views: readonly IndexedView[]): void;
  /** Streams with an event that could not be applied: their rows predate it. */
  quarantined(): { stream: string; revision: number }[];
  /** Applies a quarantined stream from that event on. */
  retry(stream: string, events: readonly RecordedEvent[]): void;
  find<View extends ViewEnvelope>(kind: ViewKind<View>, token: string): View | undefined;
  /** `length` is that of the stored text, in characters. */
  findMeasured<View extends ViewEnvelope>(
    kind: ViewKind<View>,
    token: string,
  ): { view: View; length: number } | undefined;
  /** Moves due times of inquiries, in one transaction. */
  postpone(postponed: readonly Postponed[]): void;
  /** Reads inside are of one moment, even while others write. */
  atOnce<Answer>(read: () => Answer): Answer;
  /** Rows of a cached statement, by position of its values. */
  select(sql: string, values: readonly (string | number)[]): Row[];
}

export interface IndexFileOptions {
  log: Pick<Log, 'error'>;
  /** When a row is first inquired. @default counted from its last change */
  dueAt?: DueAt | undefined;
}

export function createIndexFile(
  database: DatabaseSync,
  { log, dueAt = dueByItself }: IndexFileOptions,
): IndexFile {
  const statements = createStatements(database);
  const select: IndexFile['select'] = (sql, values) => statements(sql).all(...values);
  const findMeasured: IndexFile['findMeasured'] = (kind, token) => {
    const row = statements(`SELECT view FROM ${kind.table.name} WHERE token = ?`).get(token);
    return row && { view: toView(kind, row), length: String(row['view']).length };
  };
  const writing = { dueAt, log };
  return {
    apply: (events) => applyEvents(statements, events, writing),
    write: (views) => writeViews(statements, views, writing),
    quarantined: () => quarantinedIn(statements),
    retry: (stream, events) =>
      inTransaction(database, () => retryStream(statements, { stream, events }, writing)),
    find: (kind, token) => findMeasured(kind, token)?.view,
    findMeasured,
    postpone: (postponed) => inTransaction(database, () => postponeIn(statements, postponed)),
    atOnce: (read) => inTransaction(database, read, 'BEGIN'),
    select,
  };
}

const dueByItself: DueAt = (item) => nextInquiryAt(item, item.updatedAt);
