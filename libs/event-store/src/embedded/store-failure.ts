import { StoreUnavailable } from '../errors.ts';
import { primaryCode, sqliteBusy, sqliteFull, sqliteIoError } from './sqlite-error.ts';

const failures = new Map<number | undefined, [code: string, message: string]>([
  [sqliteFull, ['store_full', 'The disk of the event store is full.']],
  [sqliteIoError, ['store_io_error', 'The disk of the event store failed.']],
  [sqliteBusy, ['store_busy', 'Another process kept the event store locked for too long.']],
]);

/** Classifies SQLite's errors of an append or a read. */
export function fromSqliteCode(sqliteCode: number | undefined, cause?: unknown): StoreUnavailable {
  const other = ['store_failed', `The event store failed with SQLite's code ${sqliteCode}.`] as const;
  const [code, message] = failures.get(primaryCode(sqliteCode)) ?? other;
  return new StoreUnavailable(code, message, { cause });
}

export const writerStopped = (cause?: unknown) =>
  new StoreUnavailable(
    'store_writer_stopped',
    'The writer of the event store has stopped: restart the process.',
    { retryable: false, cause },
  );
