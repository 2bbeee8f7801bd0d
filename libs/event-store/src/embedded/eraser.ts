/**
 * Leaves nothing of removed events in the files. SQLite only marks the space of deleted rows as free, and the write-ahead log
 * has the pages as they were; so freed space is overwritten, and the log is moved into the file and cut off.
 */
import type { DatabaseSync } from 'node:sqlite';
import { busyTimeoutMs } from './open-database.ts';
import { sqliteCodeOf } from './sqlite-error.ts';

function isLogCutOff(database: DatabaseSync): boolean {
  try {
    return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  } catch (error) {
    // For example a full disk: the data is committed nevertheless.
    if (sqliteCodeOf(error) === undefined) throw error;
    return false;
  }
}

/** Maximum wait for a reader while writers are blocked: a page of events is read in less. @unit milliseconds */
const readerWaitMs = 250;

/** A backup reads for minutes, and all writers would wait after each commit. */
const waitAgainAfterMs = 5_000;

export function createEraser(database: DatabaseSync, now: () => number = () => performance.now()) {
  let isPending = false;
  let waitedInVainAt = -Infinity;
  return {
    /** Call before the transaction that removes: freed space is overwritten, including emptied pages. */
    prepare(): void {
      isPending = true;
      database.exec('PRAGMA secure_delete = ON');
    },
    /**
     * Call after each transaction; does nothing if nothing is to be erased. If a reader prevents the truncation of the
     * log, the next transaction retries it, or finally the last close of the file.
     */
    finish(): void {
      if (!isPending) return;
      const mayWait = now() - waitedInVainAt >= waitAgainAfterMs;
      database.exec(`PRAGMA secure_delete = FAST; PRAGMA busy_timeout = ${mayWait ? readerWaitMs : 0}`);
      isPending = !isLogCutOff(database);
      if (mayWait) waitedInVainAt = isPending ? now() : -Infinity;
      database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    },
  };
}
