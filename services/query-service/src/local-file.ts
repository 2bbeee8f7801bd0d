/**
 * The SQLite files of the query service beside the index: what is in them can be had again or done without. A commit need not
 * reach the disk, and a damaged file is begun anew.
 */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type Log, StartupError } from '@tollgate/service-kit';

const busyTimeoutMs = 1_000;

export interface LocalFile {
  /** Path, or `:memory:`. */
  file: string;
  /** Marks our files, because another program's file must not be deleted. */
  applicationId: number;
  /** Raised with every change to the schema. */
  version: number;
  schema: string;
  log: Log;
}

/**
 * Opens the file; it is empty where there was none, where it was damaged, or where another version wrote it.
 *
 * @throws StartupError where it is another program's, or cannot be used
 */
export function openLocalFile(options: LocalFile): DatabaseSync {
  const { file, log } = options;
  try {
    return openOnce(options);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    log.warn({ error, operation: 'open-file' }, 'a file beside the index cannot be read; it is begun anew');
    deleteLocalFile(file);
  }
  try {
    return openOnce(options);
  } catch (cause) {
    const message = `The file ${file} cannot be opened: make it and its directory writable.`;
    throw new StartupError('file_not_openable', message, { cause });
  }
}

function deleteLocalFile(file: string): void {
  if (file === ':memory:') return;
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

function openOnce(options: LocalFile): DatabaseSync {
  const { applicationId, version, schema } = options;
  const database = new DatabaseSync(options.file, { timeout: busyTimeoutMs });
  try {
    const isNew = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (!isNew) requireOurs(database, options);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
    const marks = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`;
    if (isNew) database.exec(`BEGIN; ${marks} ${schema} COMMIT;`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function requireOurs(database: DatabaseSync, { file, applicationId, version }: LocalFile): void {
  const pragma = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  if (pragma('application_id') !== applicationId)
    throw new StartupError(
      'file_foreign',
      `${file} is a database of another program: set another TOLLGATE_INDEX_DIR.`,
    );
  if (pragma('user_version') !== version) throw new Error('another version wrote it');
}

export function inTransaction(database: DatabaseSync, write: () => void): void {
  database.exec('BEGIN');
  try {
    write();
    database.exec('COMMIT');
  } catch (error) {
    // After a full disk SQLite has rolled back already, and a second ROLLBACK would throw.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
