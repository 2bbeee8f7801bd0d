/**
 * The SQLite files of the query service beside the index: what is in them can be had again or done without. A commit need not
 * reach the disk, and a file that is damaged, or was open when the machine went down, is recreated.
 */
import { DatabaseSync } from 'node:sqlite';
import { type Log, StartupError, TollgateError } from '@tollgate/service-kit';
import {
  Unusable,
  currentBoot,
  deleteIndexFile,
  isDamage,
  noteClosed,
  noteOpen,
  openUnderSchema,
  requireSound,
} from '@tollgate/view-index';

const busyTimeoutMs = 1_000;

export interface LocalFileOptions<Rows> {
  /** Path, or `:memory:`. */
  file: string;
  /** Marks our files, because another program's file must not be deleted. */
  applicationId: number;
  /** Raised with every change to the schema. */
  version: number;
  schema: string;
  log: Log;
  /** What is done with the open file. */
  rowsOf: (database: DatabaseSync) => Rows;
  /** Called when there is an empty file in the place of one that was in use. */
  onRecreated?: () => void;
}

export interface LocalFile<Rows> {
  /**
   * Does it with the file. Where that shows damage, there is an empty file, and it is done once more with that one.
   *
   * @throws what the work throws; `file_not_openable` (retryable)
   */
  use<Result>(work: (rows: Rows) => Result): Result;
  close(): void;
}

interface Opened<Rows> {
  database: DatabaseSync;
  rows: Rows;
}

/**
 * Opens the file; it is empty where there was none, where it was damaged, where the machine went down while it was open, or
 * where another version wrote it. One that cannot be opened ends no start: each use tries it again.
 *
 * @throws StartupError where it is another program's
 */
export function openLocalFile<Rows>(options: LocalFileOptions<Rows>): LocalFile<Rows> {
  const { file, log } = options;
  let opened: Opened<Rows> | undefined;

  function open(): Opened<Rows> {
    try {
      return (opened ??= openSound(options));
    } catch (cause) {
      if (cause instanceof StartupError) throw cause;
      const message = `The file ${file} cannot be opened: make it and its directory writable, with room on the disk.`;
      throw new TollgateError('file_not_openable', message, { retryable: true, cause });
    }
  }

  function recreate(error: unknown): Opened<Rows> {
    log.error({ error, operation: 'read-file' }, `the file ${file} is damaged; it is recreated`);
    opened?.database.close();
    opened = undefined;
    deleteIndexFile(file);
    options.onRecreated?.();
    return open();
  }

  function openAtStart(): void {
    try {
      open();
    } catch (error) {
      if (error instanceof StartupError) throw error;
      log.error(
        { error, operation: 'open-file' },
        `the file ${file} cannot be opened; each use tries it again`,
      );
    }
  }

  // In memory there is nothing to find out before the first use.
  if (file !== ':memory:') openAtStart();
  return {
    use(work) {
      const { rows } = open();
      try {
        return work(rows);
      } catch (error) {
        if (!isDamage(error)) throw error;
        return work(recreate(error).rows);
      }
    },
    close: () => closeWhole(opened?.database),
  };
}

function openSound<Rows>(options: LocalFileOptions<Rows>): Opened<Rows> {
  const { file, log } = options;
  try {
    return openOnce(options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    log.warn({ error, operation: 'open-file' }, `the file ${file} cannot be used; it is recreated`);
    deleteIndexFile(file);
    return openOnce(options);
  }
}

function openOnce<Rows>(options: LocalFileOptions<Rows>): Opened<Rows> {
  const { file, applicationId, version, schema, rowsOf } = options;
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    const isNew = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (!isNew) requireOurs(database, options);
    database.exec('PRAGMA journal_mode = WAL;');
    const marks = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`;
    if (isNew) database.exec(`BEGIN; ${marks} ${schema} COMMIT;`);
    else requireSound(database, file);
    database.exec(openUnderSchema);
    noteOpen(database, currentBoot());
    return { database, rows: rowsOf(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function requireOurs<Rows>(
  database: DatabaseSync,
  { file, applicationId, version }: LocalFileOptions<Rows>,
): void {
  const pragma = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  if (pragma('application_id') !== applicationId)
    throw new StartupError(
      'file_foreign',
      `${file} is a database of another program: set another TOLLGATE_INDEX_DIR.`,
    );
  if (pragma('user_version') !== version) throw new Unusable('another version wrote it');
}

function closeWhole(database: DatabaseSync | undefined): void {
  try {
    if (database !== undefined) noteClosed(database);
  } catch {
    // Damaged, or on a full disk: it is recreated after the next start of the machine, and that is all.
  }
  database?.close();
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
