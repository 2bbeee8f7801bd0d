/** What is under everything that the index reads and writes: prepared statements, rows, and what is in them. */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { ViewEnvelope, ViewKind } from '@tollgate/views';

export type Row = Record<string, SQLOutputValue>;
export type Statements = (sql: string) => StatementSync;

/** The file is unusable, and a rebuild helps. */
export class Unusable extends Error {}

/** Prepares each text once; there are as many as there are combinations of filters. */
export function createStatements(database: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}

/**
 * The view of a row. It was parsed when it was written, and the file belongs to the version that wrote it, so all that
 * is asked is whether it is one of this version's: a whole check of each would be most of what a page costs.
 *
 * @throws Unusable otherwise
 */
export function toView<View extends ViewEnvelope>({ schemaVersion }: ViewKind<View>, row: Row): View {
  const view = parseStored(row['view']) as View | undefined;
  if (view?.schemaVersion === schemaVersion) return view;
  throw new Unusable('a view of the index cannot be read');
}

/** JSON from the file. @throws Unusable if it is not JSON */
export function parseStored(text: SQLOutputValue | undefined): unknown {
  try {
    return JSON.parse(String(text)) ?? undefined;
  } catch (cause) {
    throw new Unusable('a row of the index cannot be read', { cause });
  }
}
