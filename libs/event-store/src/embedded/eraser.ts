/**
 * Leaves nothing of removed events in the files. SQLite only marks the space of deleted rows as free, and the write-ahead log
 * has the pages as they were; so freed space is overwritten, and the log is moved into the file and cut off.
 */
import type { DatabaseSync } from 'node:sqlite';
import { busyTimeoutMs } from './open-database.ts';
import { sqliteCodeOf } from './sqlite-error.ts';

export interface Eraser {
  /** Before the transaction that removes: what it frees is overwritten, pages that get empty included. */
  prepare(): void;
  /**
   * After each transaction; does nothing while nothing is to be erased. Where a reader of this moment keeps the log from
   * being cut off, the next transaction tries again, and at the latest the last close of the file does it.
   */
  finish(): void;
}

function isLogCutOff(database: DatabaseSync): boolean {
  try {
    return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  } catch (error) {
    // A full disk, for example: what was committed is committed all the same.
    if (sqliteCodeOf(error) === undefined) throw error;
    return false;
  }
}

/** How long a reader is waited for while nobody can write, milliseconds: a page of events is read in less. */
const readerWaitMs = 250;

/** A backup reads for minutes, and everybody who writes would wait after each commit. */
const waitAgainAfterMs = 5_000;

export function createEraser(database: DatabaseSync, now: () => number = () => performance.now()): Eraser {
  let isPending = false;
  let waitedInVainAt = -Infinity;
  return {
    prepare() {
      isPending = true;
      database.exec('PRAGMA secure_delete = ON');
    },
    finish() {
      if (!isPending) return;
      const mayWait = now() - waitedInVainAt >= waitAgainAfterMs;
      database.exec(`PRAGMA secure_delete = FAST; PRAGMA busy_timeout = ${mayWait ? readerWaitMs : 0}`);
      isPending = !isLogCutOff(database);
      if (mayWait) waitedInVainAt = isPending ? now() : -Infinity;
      database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    },
  };
}
