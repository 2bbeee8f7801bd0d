import { statSync } from 'node:fs';
import { TollgateError } from '@tollgate/service-kit';
import { openForWriting } from './open-database.ts';
import { primaryCode, sqliteBusy, sqliteCodeOf, sqliteFull } from './sqlite-error.ts';
import { StartRefused } from './sqlite-error.ts';

/** Of the file, without its write-ahead log. */
export interface Compaction {
  bytesBefore: number;
  bytesAfter: number;
}

/**
 * Rewrites the pages of the store, full and in order, and returns free space to the disk. Events keep their positions. One
 * transaction: an interruption leaves the store unchanged. Writers wait meanwhile.
 *
 * @param file the SQLite file of an embedded store
 * @throws TollgateError `compact_disk_full`, `compact_store_busy`, `compact_failed`, or why the file cannot be opened
 */
export function compactEmbeddedStore(file: string): Compaction {
  try {
    const database = openForWriting(file);
    try {
      // Pages that are only in the log are not part of the file.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      const bytesBefore = statSync(file).size;
      database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
      return { bytesBefore, bytesAfter: statSync(file).size };
    } finally {
      database.close();
    }
  } catch (error) {
    throw toFailure(error, file);
  }
}

function toFailure(error: unknown, file: string): unknown {
  if (error instanceof StartRefused) return new TollgateError(error.code, error.message, { cause: error });
  const sqliteCode = sqliteCodeOf(error);
  if (sqliteCode === undefined) return error;
  const failure = (code: string, message: string) =>
    new TollgateError(code, `${message} Nothing was changed.`, { cause: error });
  switch (primaryCode(sqliteCode)) {
    case sqliteFull:
      return failure(
        'compact_disk_full',
        `The disk of ${file}, or that of temporary files (SQLITE_TMPDIR), is full. Each needs free space of the size of the store.`,
      );
    case sqliteBusy:
      return failure('compact_store_busy', `Another program uses ${file}. Stop it and retry.`);
    default:
      return failure(
        'compact_failed',
        `${file} could not be compacted (SQLite's code ${sqliteCode}): check its disk.`,
      );
  }
}
