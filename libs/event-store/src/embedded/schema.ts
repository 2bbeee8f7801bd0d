import type { DatabaseSync } from 'node:sqlite';
import { StartRefused } from './sqlite-error.ts';

// "TgEs": distinguishes our files from those of other programs.
const applicationId = 0x54_67_45_73;
const schemaVersion = 1;

// Without AUTOINCREMENT the number of a trimmed last event could be reused.
const tables = `
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last_revision INTEGER NOT NULL DEFAULT -1,
    keep_last INTEGER
  ) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id INTEGER NOT NULL REFERENCES streams (id),
    revision INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (stream_id, revision)
  ) STRICT;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

const numberOf = (database: DatabaseSync, sql: string) =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0]);

const isEmpty = (database: DatabaseSync) => numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;

/** @throws StartRefused if the file is of another program or of another version of this one. */
export function requireOwnFile(database: DatabaseSync, file: string): void {
  if (isEmpty(database)) return;
  if (numberOf(database, 'PRAGMA application_id') !== applicationId) {
    throw new StartRefused(
      'store_foreign_file',
      `The file ${file} is a database of another program, not an event store: set another file and start again.`,
    );
  }
  const version = numberOf(database, 'PRAGMA user_version');
  if (version !== schemaVersion) {
    throw new StartRefused(
      'store_version_unknown',
      `The event store ${file} has format ${version}, and this program reads format ${schemaVersion}. Use the version that wrote it.`,
    );
  }
}

/** Creates the tables unless they are there; SQLite throws if the file may only be read. */
export function createSchema(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  // Another process may have created them since the check.
  if (isEmpty(database)) database.exec(tables);
  // SQLite opens a read-only file without an error, and accepts BEGIN IMMEDIATE: only a write statement fails.
  database.exec('DELETE FROM events WHERE FALSE');
  database.exec('COMMIT');
  requireOwnFile(database, file);
}
