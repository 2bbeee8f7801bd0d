/** Prepared statements and rows of the index. */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { DamagedFile } from '@tollgate/event-store';
import type { ViewEnvelope, ViewKind } from '@tollgate/views';

export type Row = Record<string, SQLOutputValue>;
export type Statements = (sql: string) => StatementSync;

/** Prepares each text once; there is one per combination of filters. */
export function createStatements(database: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}

/** The view of a row. Its form is that of this release, because a file of another is rebuilt. @throws DamagedFile */
export const toView = <View extends ViewEnvelope>(_kind: ViewKind<View>, row: Row): View =>
  parseStored(row['view']) as View;

/** JSON from the file. @throws DamagedFile if it is not JSON */
function parseStored(text: SQLOutputValue | undefined): unknown {
  try {
    return JSON.parse(String(text));
  } catch (cause) {
    throw new DamagedFile('a row of the index cannot be read', { cause });
  }
}
