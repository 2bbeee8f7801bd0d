import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { TollgateError } from './errors.ts';

/** For the owner only. What SQLite makes next to a file is as readable as the file. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
}

const sqliteBusy = 5;

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;

/**
 * Holds a lock for this process on a file that is for nothing else; the system releases it when the process ends, however
 * it ends.
 *
 * @throws TollgateError `lock_held` where somebody else holds it; what the file system or SQLite throws if it cannot be made
 */
export function lockFile(file: string): { close(): void } {
  makePrivate(file);
  const lock = new DatabaseSync(file);
  try {
    // A journal would need room, and a full disk is no reason not to start.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return lock;
  } catch (cause) {
    lock.close();
    if (!isBusy(cause)) throw cause;
    throw new TollgateError('lock_held', `Another process has locked ${file}.`, { cause });
  }
}
