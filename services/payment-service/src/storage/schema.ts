import type { DatabaseSync } from 'node:sqlite';
import { StartupError } from '@tollgate/service-kit';
import { moneyStep } from './money-schema.ts';

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

  `ALTER TABLE merchant_keys ADD COLUMN key_id TEXT NOT NULL DEFAULT '';
   ALTER TABLE merchant_keys ADD COLUMN shown TEXT NOT NULL DEFAULT 'sk_sandbox_';
   ALTER TABLE merchant_keys ADD COLUMN revoked_at INTEGER;
   UPDATE merchant_keys SET key_id = 'key_' || substr(hash, 1, 12);
   CREATE INDEX merchant_keys_by_merchant ON merchant_keys (merchant_id);

   CREATE TABLE merchant_approvals (
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     kind TEXT NOT NULL CHECK (kind IN ('compliance', 'commercial', 'technical')),
     approved_at INTEGER NOT NULL,
     PRIMARY KEY (merchant_id, kind)
   ) STRICT;`,

  moneyStep,
];

/**
 * Brings the file to its present shape, in one transaction: an operator's command may do so while the service starts.
 *
 * @throws StartupError where a newer release has written the file.
 */
export function migrate(connection: DatabaseSync): void {
  if (versionOf(connection) === migrations.length) return;
  connection.exec('BEGIN IMMEDIATE');
  const version = versionOf(connection);
  if (version > migrations.length) {
    throw new StartupError(
      'database_too_new',
      'The database of the Payment Service was written by a newer release; start that release.',
    );
  }
  for (const migration of migrations.slice(version)) connection.exec(migration);
  connection.exec(`PRAGMA user_version = ${migrations.length}; COMMIT;`);
}

const versionOf = (connection: DatabaseSync): number =>
  Number(connection.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
