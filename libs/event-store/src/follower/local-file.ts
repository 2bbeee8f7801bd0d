/** A SQLite file that is a cache of this process: one that is damaged or of another version is recreated, empty. */
import { createHash } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type Log, StartupError, TollgateError } from '@tollgate/service-kit';

const busyTimeoutMs = 1_000;
/** 16 MiB. A larger log moves a page that changes often into the file once instead of many times. */
const checkpointPages = 4_096;
/** Larger files are not checked when opened: damage is found when the page is read. */
const checkedBytesMax = 64 * 1_048_576;

export interface LocalFileOptions<Rows> {
  /** Path, or `:memory:`. */
  file: string;
  /** Marks our files: the file of another program is never deleted. */
  applicationId: number;
  /** A file with another schema is recreated. */
  schema: string;
  /** Other dependencies of the rows. A file written under other rules is recreated. */
  rules?: string;
  log: Log;
  rowsOf: (database: DatabaseSync) => Rows;
  /** Called when an empty file has replaced one that was in use. */
  onRecreated?: () => void;
}

export type LocalFile<Rows> = ReturnType<typeof openLocalFile<Rows>>;

/** The content cannot be used; recreating the file helps. */
export class DamagedFile extends Error {}

/**
 * Opens the file. One that cannot be opened does not end the start: each use tries again.
 *
 * @throws StartupError `file_foreign` for a file of another program
 */
export function openLocalFile<Rows>(options: LocalFileOptions<Rows>) {
  const { file, log } = options;
  let opened: { database: DatabaseSync; rows: Rows } | undefined;
  let generation = 1;
  let isClosed = false;

  function open() {
    if (isClosed) throw notOpenable(file, undefined);
    try {
      return (opened ??= openOrReplace(options));
    } catch (cause) {
      throw cause instanceof StartupError ? cause : notOpenable(file, cause);
    }
  }

  function recreate(): void {
    opened?.database.close();
    opened = undefined;
    generation += 1;
    tryToOpen(() => deleteLocalFile(file));
    options.onRecreated?.();
  }

  function tryToOpen(prepare = () => {}): void {
    try {
      prepare();
      open();
    } catch (error) {
      if (error instanceof StartupError) throw error;
      log.error({ error, operation: 'open-file' }, `${file} cannot be opened; each use tries again`);
    }
  }

  // In memory nothing can be wrong before the first use.
  if (file !== ':memory:') tryToOpen();
  return {
    /**
     * Repeats the work once with an empty file when it finds damage.
     *
     * @throws errors of the work; `file_not_openable` (retryable)
     */
    use<Result>(work: (rows: Rows) => Result): Result {
      const { rows } = open();
      try {
        return work(rows);
      } catch (error) {
        if (!isDamage(error)) throw error;
        log.error({ error, operation: 'read-file' }, `${file} is damaged; it is recreated`);
        recreate();
        return work(open().rows);
      }
    },
    /** Replaces the file by an empty one. */
    recreate,
    /** Grows with each replacement. */
    generation: (): number => generation,
    close(): void {
      isClosed = true;
      opened?.database.close();
      opened = undefined;
    },
  };
}

/** Opens a file that another thread of this process writes. @throws SQLite's errors */
export const openLocalFileForReading = (file: string): DatabaseSync =>
  new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });

export function deleteLocalFile(file: string): void {
  if (file === ':memory:') return;
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

/** True if only recreating the file helps. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  return error instanceof DamagedFile || code === 11 || code === 26;
}

export function inTransaction<Result>(
  database: DatabaseSync,
  work: () => Result,
  begin: 'BEGIN' | 'BEGIN IMMEDIATE' = 'BEGIN IMMEDIATE',
): Result {
  database.exec(begin);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After a full disk SQLite has rolled back already, and a second ROLLBACK would throw.
    if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function openOrReplace<Rows>(options: LocalFileOptions<Rows>) {
  const { file, log } = options;
  try {
    return openOnce(options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    log.warn({ error, operation: 'open-file' }, `${file} is damaged or of another version; it is recreated`);
    deleteLocalFile(file);
    return openOnce(options);
  }
}

function openOnce<Rows>(options: LocalFileOptions<Rows>) {
  const { file, applicationId, schema, rowsOf } = options;
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    const isNew = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (!isNew) requireOwn(database, options);
    // A commit that has not reached the disk when the machine stops is lost as a whole, and followed again.
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${checkpointPages};`);
    const marks = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${versionOf(options)};`;
    if (isNew) database.exec(`BEGIN IMMEDIATE; ${marks} ${schema} COMMIT;`);
    else requireSound(database, file);
    return { database, rows: rowsOf(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

const pragmaOf = (database: DatabaseSync, name: string): number =>
  Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);

/** True if a file that was opened for reading has this schema, written by these rules. */
export const isOfVersion = (
  database: DatabaseSync,
  options: Pick<LocalFileOptions<unknown>, 'applicationId' | 'schema' | 'rules'>,
): boolean =>
  pragmaOf(database, 'application_id') === options.applicationId &&
  pragmaOf(database, 'user_version') === versionOf(options);

function requireOwn<Rows>(database: DatabaseSync, options: LocalFileOptions<Rows>): void {
  const { file, applicationId } = options;
  if (pragmaOf(database, 'application_id') !== applicationId)
    throw new StartupError(
      'file_foreign',
      `${file} is a database of another program: set another TOLLGATE_INDEX_DIR.`,
    );
  if (!isOfVersion(database, options)) throw new DamagedFile('another version wrote the file');
}

/** 31 bits of a hash: SQLite keeps it as a signed number. */
const versionOf = ({ schema, rules = '' }: Pick<LocalFileOptions<unknown>, 'schema' | 'rules'>): number =>
  createHash('sha256').update(`${schema}\n${rules}`).digest().readUInt32BE() >>> 1;

function requireSound(database: DatabaseSync, file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > checkedBytesMax) return;
  const finding = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (finding !== 'ok') throw new DamagedFile('the file is damaged');
}

const notOpenable = (file: string, cause: unknown): TollgateError =>
  new TollgateError(
    'file_not_openable',
    `The file ${file} cannot be opened: make it and its directory writable, with room on the disk.`,
    { retryable: true, cause },
  );
