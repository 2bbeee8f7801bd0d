import { DatabaseSync } from 'node:sqlite';
import { StartupError, TollgateError, errorCode, lockFile, makePrivate } from '@tollgate/service-kit';
import { migrate } from './schema.ts';

/**
 * The service's SQLite file. All changes go through {@link Database.write}, which collects the transactions of one turn
 * of the event loop into one durable commit: under load, a hundred creations share one disk flush.
 */
export interface Database {
  /** For reading, and for statements that run inside a transaction given to `write`. */
  connection: DatabaseSync;
  /**
   * Runs the synchronous `transaction`, and resolves with its value once it is durable. If it throws, only this
   * transaction is rolled back, and the promise rejects with the error.
   */
  write<Value>(transaction: () => Value): Promise<Value>;
  /** Commits queued transactions and closes the file. */
  close(): void;
}

interface QueuedTransaction {
  /** Runs inside the batch; returns a function that settles the promise after the commit. */
  run(): () => void;
  reject(error: unknown): void;
}

const transactionsPerCommitMax = 500;

/**
 * Opens the file for its single serving process, which may therefore cache its content in memory.
 *
 * @throws StartupError if another process serves the file, it is not a database, or it does not guarantee durability.
 */
export function openDatabase(file: string): Database {
  const lock = openLock(file);
  const connection = openConnection(file, lock);
  const queue: QueuedTransaction[] = [];
  let isFlushScheduled = false;

  const flush = (): void => {
    isFlushScheduled = false;
    while (queue.length > 0) commit(connection, queue.splice(0, transactionsPerCommitMax));
  };
  return {
    connection,
    write: (transaction) =>
      new Promise((resolve, reject) => {
        queue.push({ run: () => runInSavepoint(connection, transaction, resolve, reject), reject });
        // After the poll phase, so that all requests that have arrived by now share the commit.
        if (!isFlushScheduled) setImmediate(flush);
        isFlushScheduled = true;
      }),
    close: () => {
      try {
        flush();
        connection.close();
      } finally {
        lock.close();
      }
    },
  };
}

function openLock(file: string): { close(): void } {
  try {
    return lockFile(`${file}-lock`);
  } catch (error) {
    throw errorCode(error) === 'lock_held' ? inUse(file) : toStartupError(error, file);
  }
}

function openConnection(file: string, lock: { close(): void }): DatabaseSync {
  let connection: DatabaseSync | undefined;
  try {
    // Contains accounts, customers and hashes of keys.
    makePrivate(file);
    connection = new DatabaseSync(file);
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    assertDurable(connection);
    migrate(connection);
    return connection;
  } catch (error) {
    connection?.close();
    lock.close();
    throw error instanceof StartupError ? error : toStartupError(error, file);
  }
}

const sqliteBusy = 5;
const synchronousFull = 2;

function toStartupError(cause: unknown, file: string): StartupError {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
  if (code === sqliteBusy) return inUse(file);
  return new StartupError(
    'database_unusable',
    `${file} cannot be opened as a database (${typeof code === 'number' ? `SQLite error ${code}` : errorCode(cause)}). Restore it, or move it away to begin without payments.`,
    { cause },
  );
}

const inUse = (file: string) =>
  new StartupError(
    'data_dir_in_use',
    `Another running Payment Service has ${file} open. Stop it, or set TOLLGATE_DATA_DIR to another folder.`,
  );

function assertDurable(connection: DatabaseSync): void {
  const value = (sql: string) => Object.values(connection.prepare(sql).get() ?? {})[0];
  if (value('PRAGMA journal_mode') === 'wal' && value('PRAGMA synchronous') === synchronousFull) return;
  throw new StartupError(
    'database_not_durable',
    'SQLite did not accept write-ahead logging with full synchronisation here; put TOLLGATE_DATA_DIR on a local disk.',
  );
}

function commit(connection: DatabaseSync, batch: QueuedTransaction[]): void {
  let settlements: (() => void)[];
  try {
    connection.exec('BEGIN IMMEDIATE');
    settlements = batch.map((queued) => queued.run());
    connection.exec('COMMIT');
  } catch (cause) {
    // A full disk has already caused a rollback, and a second ROLLBACK would throw.
    if (connection.isTransaction) connection.exec('ROLLBACK');
    const error = new TollgateError('storage_failed', 'The database could not commit.', {
      retryable: true,
      cause,
    });
    for (const queued of batch) queued.reject(error);
    return;
  }
  for (const settle of settlements) settle();
}

function runInSavepoint<Value>(
  connection: DatabaseSync,
  transaction: () => Value,
  resolve: (value: Value) => void,
  reject: (error: unknown) => void,
): () => void {
  connection.exec('SAVEPOINT one');
  try {
    const value = transaction();
    connection.exec('RELEASE one');
    return () => resolve(value);
  } catch (error) {
    if (!connection.isTransaction) throw error;
    connection.exec('ROLLBACK TO one; RELEASE one');
    return () => reject(error);
  }
}
