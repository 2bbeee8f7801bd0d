/** The file of an index without a store, for specs. */
import { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '@tollgate/event-store';
import { temporaryFile } from '@tollgate/event-store/testing';
import { silentLog } from '@tollgate/service-kit';
import { streamOf, type ViewEnvelope, type ViewKind } from '@tollgate/views';
import { toRecordedIn, type AnyEvent } from '@tollgate/views/testing';
import { onTestFinished } from 'vitest';
import { createIndexFile, dueByItself, type IndexFile, type IndexFileOptions } from '../index-file.ts';
import { createSumsBatch } from '../index-ledger.ts';
import { createStatements, toView, type Statements } from '../index-rows.ts';
import { indexSchema } from '../index-schema.ts';
import { rowOf, writeView, type IndexedView } from '../index-writer.ts';
import type { ViewList } from '../list-page.ts';

export interface TestIndexFile extends IndexFile {
  plant(views: readonly IndexedView[]): void;
  close(): void;
}

export function openIndexFile(path = ':memory:', options: Partial<IndexFileOptions> = {}): TestIndexFile {
  const database = new DatabaseSync(path);
  database.exec(indexSchema);
  const writing = { log: silentLog, dueAt: options.dueAt ?? dueByItself };
  return {
    ...createIndexFile(database, writing),
    plant: (views) => inTransaction(database, () => writeViews(createStatements(database), views, writing)),
    close: () => database.close(),
  };
}

/** Writes views regardless of the events. */
function writeViews(
  statements: Statements,
  views: readonly IndexedView[],
  writing: Parameters<typeof writeView>[2],
): void {
  const sums = createSumsBatch();
  for (const { kind, view } of views) {
    const row = rowOf(statements, kind, streamOf(kind, view.token));
    writeView(statements, { kind, view, row, before: row && toView(kind, row), sums }, writing);
  }
  sums.applyTo(statements);
}

/** A file with these views, until the running test has ended. */
export function givenFile(views: readonly IndexedView[] = [], path = ':memory:'): TestIndexFile {
  const file = openIndexFile(path);
  onTestFinished(() => file.close());
  file.plant(views);
  return file;
}

export function viewOf(
  kind: ViewKind,
  token: string,
  events: readonly AnyEvent[],
  createdAt?: number,
): IndexedView {
  const view = toRecordedIn(streamOf(kind, token), events).reduce<ViewEnvelope | undefined>(
    (before, event) => kind.fold(before, event),
    undefined,
  )!;
  return { kind, view: { ...view, createdAt: createdAt ?? view.createdAt } };
}

/** A file that records the query plan of each read. */
export async function givenExplainedFile(views: readonly IndexedView[] = []) {
  const path = await temporaryFile();
  const file = givenFile(views, path);
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  const steps: string[] = [];
  const select: IndexFile['select'] = (sql, values) => {
    steps.push(
      ...database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...values)
        .map(({ detail }) => String(detail)),
    );
    return file.select(sql, values);
  };
  return { file: { ...file, select }, steps };
}

/** @throws Error with the parameter if the page was refused */
export function pageOf<View>(list: ViewList<View>) {
  if (list.kind !== 'page') throw new Error(list.parameter);
  return list;
}

/** Follows the cursors of a list to its end. */
export function throughPages<Item>(
  pageAt: (cursor: { cursor?: string }) => { items: Item[]; nextCursor?: string },
): Item[][] {
  const pages: Item[][] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = pageAt(cursor === undefined ? {} : { cursor });
    pages.push(items);
    cursor = nextCursor;
    if (pages.length > 100) throw new Error('the cursors lead in a circle');
  } while (cursor !== undefined);
  return pages;
}
