import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  primaryCode,
  sqliteBusy,
  sqliteCannotOpen,
  sqliteCodeOf,
  sqliteCorrupt,
  sqliteFull,
  sqliteNotADatabase,
  sqliteReadOnly,
  StartRefused,
} from './sqlite-error.ts';

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
function createSchema(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  // Another process may have created them since the check.
  if (isEmpty(database)) database.exec(tables);
  // SQLite opens a read-only file without an error, and accepts BEGIN IMMEDIATE: only a write statement fails.
  database.exec('DELETE FROM events WHERE FALSE');
  database.exec('COMMIT');
  requireOwnFile(database, file);
}

/** How long a writer waits for the writer of another process. */
export const busyTimeoutMs = 5_000;
const retryPauseMs = 5;

/** Larger files are not checked at the start; damage in them is found when the page is read. */
const checkedFileBytesMax = 64 * 1_048_576;

/** Earlier versions may corrupt the file when two connections reset the write-ahead log at the same moment. */
const sqliteVersionMin = '3.51.3';

/**
 * Opens the file for the one writer of this process, creates missing parts, and makes sure that commits are durable.
 *
 * @throws StartRefused, one sentence with what to do
 */
export function openForWriting(file: string): DatabaseSync {
  requireDirectory(file);
  const giveUpAt = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return openOnce(file);
    } catch (error) {
      // SQLite does not wait for another process while it changes a new file to a write-ahead log: so we do.
      const isBusy = primaryCode(sqliteCodeOf(error)) === sqliteBusy;
      if (!isBusy || performance.now() > giveUpAt) throw fromOpeningError(error, file);
      blockThread(retryPauseMs);
    }
  }
}

function openOnce(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    requireSqliteVersion(database);
    requireOwnFile(database, file);
    requireDurableCommits(database);
    createSchema(database, file);
    requireSoundFile(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw error;
  }
}

const blockThread = (durationMs: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);

function requireDirectory(file: string): void {
  const directory = dirname(file);
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new StartRefused(
      'store_directory_missing',
      `The directory ${directory} of the event store does not exist: create it, or set another one, and start again.`,
    );
  }
}

function requireSqliteVersion(database: DatabaseSync): void {
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  if (version.localeCompare(sqliteVersionMin, 'en', { numeric: true }) >= 0) return;
  throw new StartRefused(
    'sqlite_too_old',
    `This Node.js has SQLite ${version}, and the event store needs ${sqliteVersionMin}: use a newer Node.js 24.`,
  );
}

function requireDurableCommits(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  // Deleted data is overwritten if that writes no additional page.
  database.exec('PRAGMA secure_delete = FAST');
  const journalMode = database.prepare('PRAGMA journal_mode').get()?.['journal_mode'];
  const synchronous = database.prepare('PRAGMA synchronous').get()?.['synchronous'];
  if (journalMode !== 'wal' || synchronous !== 2) {
    throw new StartRefused(
      'store_not_durable',
      'SQLite rejected the write-ahead log or full synchronization for the event store. Put it on a local disk.',
    );
  }
}

function requireSoundFile(database: DatabaseSync, file: string): void {
  if (statSync(file).size > checkedFileBytesMax) return;
  const finding = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (finding !== 'ok') throw damaged(file);
}

const damaged = (file: string) =>
  new StartRefused(
    'store_damaged',
    `The event store ${file} is damaged or is not an SQLite database: put the last backup in its place and start again.`,
  );

const unwritable = 'cannot be opened or created: make it a file, and its directory writable, for this user';
const openingFailures: ReadonlyMap<number, readonly [code: string, what: string]> = new Map([
  [sqliteCannotOpen, ['store_not_openable', unwritable]],
  [
    sqliteReadOnly,
    ['store_read_only', 'is read-only. Make the file and its directory writable for this user'],
  ],
  [sqliteBusy, ['store_locked', 'is locked by another program: end that program and start again']],
  [sqliteFull, ['store_disk_full', 'has no space on its disk: make space and start again']],
]);

/** The operator's message for an error on opening; other errors than SQLite's are passed on. */
export function fromOpeningError(error: unknown, file: string): unknown {
  const sqliteCode = sqliteCodeOf(error);
  const primary = primaryCode(sqliteCode);
  if (error instanceof StartRefused || primary === undefined) return error;
  if (primary === sqliteNotADatabase || primary === sqliteCorrupt) return damaged(file);
  const other = `cannot be opened (SQLite's code ${sqliteCode}): check the disk it is on`;
  const [code, what] = openingFailures.get(primary) ?? ['store_not_openable', other];
  return new StartRefused(code, `The event store ${file} ${what}.`);
}
