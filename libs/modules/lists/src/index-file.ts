/** The contents of the index in its SQLite file. */
import type { DatabaseSync } from 'node:sqlite';
import { type RecordedEvent, inTransaction } from '@tollgate/event-store';
import { nextInquiryAt, type Postponed } from '@tollgate/core';
import type { Log } from '@tollgate/service-kit';
import type { ViewEnvelope, ViewKind } from '@tollgate/views';
import { postponeIn, type DueAt } from './index-inquiries.ts';
import { createStatements, toView, type Row } from './index-rows.ts';
import { applyEvents, quarantinedIn, retryStream } from './index-writer.ts';

export type IndexFile = ReturnType<typeof createIndexFile>;

export interface IndexFileOptions {
  log: Pick<Log, 'error'>;
  /** When a row is first inquired. @default counted from its last change */
  dueAt?: DueAt | undefined;
}

export function createIndexFile(database: DatabaseSync, { log, dueAt = dueByItself }: IndexFileOptions) {
  const statements = createStatements(database);
  const writing = { dueAt, log };
  /** `length` is that of the stored text, in characters. */
  const findMeasured = <View extends ViewEnvelope>(
    kind: ViewKind<View>,
    token: string,
  ): { view: View; length: number } | undefined => {
    const row = statements(`SELECT view FROM ${kind.table.name} WHERE token = ?`).get(token);
    return row && { view: toView(kind, row), length: String(row['view']).length };
  };
  return {
    /** Call in a transaction. */
    apply: (events: readonly RecordedEvent[]): void => applyEvents(statements, events, writing),
    /** Streams with an event that could not be applied: their rows predate it. */
    quarantined: () => quarantinedIn(statements),
    /** Applies a quarantined stream from that event on. */
    retry: (stream: string, events: readonly RecordedEvent[]): void =>
      inTransaction(database, () => retryStream(statements, { stream, events }, writing)),
    find: <View extends ViewEnvelope>(kind: ViewKind<View>, token: string): View | undefined =>
      findMeasured(kind, token)?.view,
    findMeasured,
    /** Moves due times of inquiries, in one transaction. */
    postpone: (postponed: readonly Postponed[]): void =>
      inTransaction(database, () => postponeIn(statements, postponed)),
    /** Reads inside are of one moment, even while others write. */
    atOnce: <Answer>(read: () => Answer): Answer => inTransaction(database, read, 'BEGIN'),
    /** Rows of a cached statement, by position of its values. The tables are strict, so a column has its declared type. */
    select: <Shape = Row>(sql: string, values: readonly (string | number)[]): Shape[] =>
      statements(sql).all(...values) as Shape[],
  };
}

export const dueByItself: DueAt = (item) => nextInquiryAt(item, item.updatedAt);
