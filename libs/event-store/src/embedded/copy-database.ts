import { DatabaseSync, backup } from 'node:sqlite';
import { TollgateError } from '@tollgate/service-kit';
import { beginning } from '../event-store.ts';
import { busyTimeoutMs } from './open-database.ts';
import { toPosition } from './event-rows.ts';
import { primaryCode, sqliteCodeOf, sqliteFull } from './sqlite-error.ts';

/** 4 MiB of the usual pages: often enough to report progress, and to stop. */
const pagesPerStep = 1_024;

export interface CopyOptions {
  /** The SQLite file of an embedded store, which others may read and write meanwhile. */
  file: string;
  /** A file that is not there yet. */
  to: string;
  signal: AbortSignal;
  onProgress?: (progress: { bytesCopied: number; bytes: number }) => void;
}

/**
 * Copies the store in its current state; no writer waits for it. The copy is one file, and synced.
 *
 * @throws TollgateError `copy_failed`, `copy_disk_full`; the signal's reason. A partial copy may remain
 */
export async function copyEmbeddedStore({ file, to, signal, onProgress }: CopyOptions) {
  const source = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
  try {
    // The open read keeps the copy at one moment. Without it SQLite restarts with every commit of another connection, without
    // end on a busy
    // gateway.
    source.exec('BEGIN');
    const found = source.prepare('SELECT count(*) AS events, max(position) AS last FROM events').get();
    const { bytesPerPage } = sizeOf(source);
    await backup(source, to, {
      rate: pagesPerStep,
      progress: ({ totalPages, remainingPages }) => {
        signal.throwIfAborted();
        const bytes = totalPages * bytesPerPage;
        onProgress?.({ bytesCopied: bytes - remainingPages * bytesPerPage, bytes });
      },
    });
    signal.throwIfAborted();
    const last = found?.['last'] ?? null;
    // It includes everything acknowledged before the copy began.
    const position = last === null ? beginning : toPosition(Number(last));
    return { position, events: Number(found?.['events']) };
  } catch (error) {
    signal.throwIfAborted();
    throw toCopyFailure(error, to);
  } finally {
    source.close();
  }
}

/** Size of a copy of the store on disk, bytes. */
export function embeddedStoreBytes(file: string): number {
  const source = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
  try {
    const { pages, bytesPerPage } = sizeOf(source);
    return pages * bytesPerPage;
  } finally {
    source.close();
  }
}

function sizeOf(database: DatabaseSync): { pages: number; bytesPerPage: number } {
  const pages = database.prepare('PRAGMA page_count').get()?.['page_count'];
  const bytesPerPage = database.prepare('PRAGMA page_size').get()?.['page_size'];
  return { pages: Number(pages), bytesPerPage: Number(bytesPerPage) };
}

function toCopyFailure(error: unknown, to: string): unknown {
  const sqliteCode = sqliteCodeOf(error);
  if (sqliteCode === undefined) return error;
  if (primaryCode(sqliteCode) === sqliteFull)
    return new TollgateError('copy_disk_full', `The disk of ${to} is full.`, { cause: error });
  const message = `The event store could not be copied to ${to} (SQLite's code ${sqliteCode}): check both disks.`;
  return new TollgateError('copy_failed', message, { cause: error });
}
