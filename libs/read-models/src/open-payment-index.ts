/** Opens the SQLite file of the index. Nothing in it is the only copy, so a commit need not reach the disk at once. */
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StartupError, type Log } from '@tollgate/service-kit';
import { createPaymentIndexFile, type PaymentIndexFile } from './payment-index-file.ts';

/** Grows with every change to the tables: an older file is rebuilt. */
const schemaVersion = 1;
/** "TgIx": tells a file of ours from another program's, which must not be deleted. */
const applicationId = 0x54674978;
const busyTimeoutMs = 1_000;
/** Larger files are not read through at the start; damage in them shows when the damaged page is read. */
const checkedFileBytesMax = 64 * 1_048_576;

const schema = `
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
  CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS payments (
    token TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    team TEXT NOT NULL,
    status TEXT NOT NULL,
    phase TEXT NOT NULL,
    order_number TEXT,
    currency TEXT NOT NULL,
    attention INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS payments_by_age ON payments (environment, team, created_at, token);
  CREATE INDEX IF NOT EXISTS payments_by_status ON payments (environment, team, status, created_at, token);
  CREATE INDEX IF NOT EXISTS payments_by_phase ON payments (environment, team, phase, created_at, token);
  CREATE INDEX IF NOT EXISTS payments_by_currency ON payments (environment, team, currency, created_at, token);
  CREATE INDEX IF NOT EXISTS payments_by_order_number ON payments (environment, team, order_number, created_at, token)
    WHERE order_number IS NOT NULL;
  CREATE INDEX IF NOT EXISTS payments_with_attention ON payments (environment, team, created_at, token) WHERE attention = 1;
  CREATE INDEX IF NOT EXISTS payments_open ON payments (token) WHERE is_open = 1;
`;

/**
 * Opens the index, empty where there was none, where it was damaged, or where an older version wrote it.
 *
 * @throws StartupError where the file is another program's or cannot be used.
 */
export function openPaymentIndexFile(file: string, log: Log): PaymentIndexFile {
  try {
    return createPaymentIndexFile(openDatabase(file));
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (!isDamage(error)) throw cannotOpen(file, error);
    log.warn(
      { error, operation: 'open-index' },
      'the index is damaged or of another version; it is built again',
    );
    deletePaymentIndexFile(file);
    return createPaymentIndexFile(openDatabase(file));
  }
}

export function deletePaymentIndexFile(file: string): void {
  if (file === ':memory:') return;
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

class Unusable extends Error {}

/** True where only building the file again helps. */
export function isDamage(error: unknown): boolean {
  const sqliteCode = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  return error instanceof Unusable || sqliteCode === 11 || sqliteCode === 26;
}

const cannotOpen = (file: string, cause: unknown) =>
  new StartupError(
    'index_not_openable',
    `The index ${file} cannot be opened: make it and its directory writable.`,
    {
      cause,
    },
  );

function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    const isNew = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (!isNew) requireOurs(database, file);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    if (isNew) database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`);
    else requireSound(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function requireOurs(database: DatabaseSync, file: string): void {
  const { application_id: application } = database.prepare('PRAGMA application_id').get() ?? {};
  if (application !== applicationId)
    throw new StartupError(
      'index_foreign',
      `${file} is a database of another program: set another path for the index.`,
    );
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  if (version !== schemaVersion) throw new Unusable('another version wrote the index');
}

function requireSound(database: DatabaseSync, file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > checkedFileBytesMax) return;
  const finding = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (finding !== 'ok') throw new Unusable('the index is damaged');
}
