/** Opens the SQLite file of the index. Nothing in it is the only copy, so a commit need not reach the disk (`boot.ts`). */
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StartupError, type Log } from '@tollgate/service-kit';
import { createIndexFile, type IndexFile, type IndexFileOptions } from './index-file.ts';
import { currentBoot, noteClosed, noteOpen } from './boot.ts';
import { Unusable } from './index-rows.ts';
import { type IndexScope, indexSchemaOf, indexSchemaVersion } from './index-schema.ts';

/** "TgIx": marks our files, because another program's file must not be deleted. */
const applicationId = 0x54674978;
const busyTimeoutMs = 1_000;
/** Larger files are not read through at the start; damage in them shows when the damaged page is read. */
const checkedFileBytesMax = 64 * 1_048_576;

/**
 * Opens the index; it is empty if there was none, if it was damaged, if an older version wrote it, or if the machine went
 * down while it was open.
 *
 * @throws StartupError if the file is another program's or cannot be used.
 */
export function openIndexFile(
  file: string,
  log: Log,
  options: IndexFileOptions = {},
  boot = currentBoot(),
): IndexFile {
  try {
    return openOnce(file, boot, options);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (!isDamage(error)) throw cannotOpen(file, error);
    log.warn({ error, operation: 'open-index' }, 'the index is damaged or of another version; it is rebuilt');
    deleteIndexFile(file);
    return openOnce(file, boot, options);
  }
}

/** One that another thread of this process has open, and writes. @throws what SQLite throws, and Unusable */
export const openIndexForReading = (file: string): IndexFile =>
  createIndexFile(new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs }));

export function deleteIndexFile(file: string): void {
  if (file === ':memory:') return;
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

/** True if only a rebuild of the file helps. */
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

function openOnce(file: string, boot: string | undefined, options: IndexFileOptions): IndexFile {
  const database = openDatabase(file, options.scope);
  try {
    noteOpen(database, boot);
    const index = createIndexFile(database, options);
    return { ...index, close: () => closeWhole(database, index) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function closeWhole(database: DatabaseSync, index: IndexFile): void {
  try {
    noteClosed(database);
  } catch {
    // Damaged, or on a full disk: the next start of the machine rebuilds it, and no more.
  }
  index.close();
}

function openDatabase(file: string, scope: IndexScope = 'lists'): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    const isNew = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (!isNew) requireOurs(database, file);
    database.exec('PRAGMA journal_mode = WAL;');
    if (isNew)
      database.exec(
        `BEGIN IMMEDIATE; PRAGMA application_id = ${applicationId}; ${indexSchemaOf(scope)} COMMIT;`,
      );
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
  if (version !== indexSchemaVersion) throw new Unusable('another version wrote the index');
}

/** @throws Unusable where it is damaged; that of a large file shows later. */
export function requireSound(database: DatabaseSync, file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > checkedFileBytesMax) return;
  const finding = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (finding !== 'ok') throw new Unusable('the file is damaged');
}
