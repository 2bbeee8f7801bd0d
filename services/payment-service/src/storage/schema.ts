import type { DatabaseSync } from 'node:sqlite';
import { StartupError } from '@tollgate/service-kit';

/**
 * The steps that brought the file to its present shape, in order; a released step is never edited, only followed.
 * Times are milliseconds since the Unix epoch. A payment's whole record is JSON; columns beside it are what is searched.
 */
const migrations: readonly string[] = [
  `CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

   CREATE TABLE merchants (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     name TEXT NOT NULL UNIQUE,
     unique_order_number INTEGER NOT NULL DEFAULT 0
   ) STRICT;

   CREATE TABLE merchant_keys (
     hash TEXT PRIMARY KEY,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     created_at INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE payments (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     token TEXT NOT NULL UNIQUE,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     order_number TEXT,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     record TEXT NOT NULL
   ) STRICT;
   CREATE INDEX payments_by_order_number ON payments (merchant_id, order_number);
   CREATE INDEX payments_by_creation ON payments (merchant_id, created_at);
   CREATE INDEX payments_by_expiry ON payments (expires_at) WHERE expires_at IS NOT NULL;

   CREATE TABLE callbacks (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     token TEXT NOT NULL,
     order_number TEXT,
     status TEXT NOT NULL,
     url TEXT NOT NULL,
     body TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('due', 'delivered', 'given_up', 'dropped')),
     tries INTEGER NOT NULL DEFAULT 0,
     due_at INTEGER NOT NULL,
     waits_for_next INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX callbacks_by_due_time ON callbacks (due_at, id) WHERE state = 'due';
   CREATE INDEX callbacks_by_order_number ON callbacks (merchant_id, order_number);
   CREATE INDEX callbacks_waiting ON callbacks (token) WHERE waits_for_next = 1;

   CREATE TABLE calls (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     operation TEXT NOT NULL,
     token TEXT,
     order_number TEXT,
     effect TEXT NOT NULL,
     answer TEXT NOT NULL
   ) STRICT;`,
];

/** @throws StartupError where a newer release has written the file. */
export function migrate(connection: DatabaseSync): void {
  const version = Number(connection.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (version > migrations.length) {
    throw new StartupError(
      'database_too_new',
      'The database of the Payment Service was written by a newer release; start that release.',
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    connection.exec(`BEGIN IMMEDIATE; ${migration} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
