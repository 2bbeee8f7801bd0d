import { DatabaseSync } from 'node:sqlite';
import { StartupError, errorCode, lockFile, makePrivate } from '@tollgate/service-kit';
import { migrate } from './schema.ts';

/**
 * The service's SQLite file. It survives the end of the process, in any way. A power failure may lose the last seconds: this
 * is a sandbox.
 */
export type Database = ReturnType<typeof openDatabase>;

/**
 * Opens the file for its single serving process, which may therefore cache its content in memory.
 *
 * @throws StartupError if another process serves the file or it is not a database.
 */
export function openDatabase(file: string) {
  const lock = openLock(file);
  const connection = openConnection(file, lock);
  return {
    /** For reading, and for statements that run inside a transaction given to `write`. */
    connection,
    /** Runs a transaction, which is rolled back if it throws. Everything that changes runs inside one. */
    write<Value>(transaction: () => Value): Value {
      connection.exec('BEGIN IMMEDIATE');
      try {
        const value = transaction();
        connection.exec('COMMIT');
        return value;
      } catch (error) {
        // A full disk has already caused a rollback, and a second ROLLBACK would throw.
        if (connection.isTransaction) connection.exec('ROLLBACK');
        throw error;
      }
    },
    close() {
      connection.close();
      lock.close();
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
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    migrate(connection);
    return connection;
  } catch (error) {
    connection?.close();
    lock.close();
    throw error instanceof StartupError ? error : toStartupError(error, file);
  }
}

const sqliteBusy = 5;

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
