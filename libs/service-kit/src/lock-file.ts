import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { TollgateError } from './errors.ts';

/** Private to the owner. SQLite's additional files have the mode of the file. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
}

const sqliteBusy = 5;

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;

/**
 * Locks a dedicated file for this process; the system releases the lock when the process ends, in any way.
 *
 * @throws TollgateError `lock_held` if another process holds it; errors of the file system or SQLite if it cannot be created
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
