/**
 * The index, and the files of the query service beside it, are written without waiting for the disk: they are caches, and the
 * end of a process takes nothing from them. What the end of the machine leaves of one is unknown, so a file notes under which
 * start of the machine it is open.
 */
import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Unusable } from './index-rows.ts';

/** Another one after each start of the machine; undefined where the system has none. */
export function currentBoot(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

export const openUnderSchema =
  'CREATE TABLE IF NOT EXISTS open_under (id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL) STRICT;';

/** @throws Unusable for a file that was open when the machine went down. */
export function noteOpen(database: DatabaseSync, boot: string | undefined): void {
  const found = database.prepare('SELECT boot FROM open_under').get()?.['boot'];
  if (found !== undefined && found !== boot)
    throw new Unusable('the machine went down while the file was written');
  if (boot === undefined) {
    database.exec('PRAGMA synchronous = NORMAL');
    return;
  }
  // On the disk before anything is written that may not come there.
  database.exec('PRAGMA synchronous = FULL');
  database.prepare('INSERT OR REPLACE INTO open_under (id, boot) VALUES (1, ?)').run(boot);
  database.exec('PRAGMA synchronous = OFF');
}

/**
 * Brings everything to the disk, and says so. A checkpoint waits for the disk only where it has something to move: that is
 * what the update is for.
 */
export function noteClosed(database: DatabaseSync): void {
  database.exec('PRAGMA synchronous = FULL; UPDATE open_under SET boot = boot;');
  const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
  if (busy === 0) database.exec('DELETE FROM open_under');
}
