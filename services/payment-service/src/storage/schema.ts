import type { DatabaseSync } from 'node:sqlite';
import { StartupError } from '@tollgate/service-kit';

/** Stored in the file; increases with every change of the schema. Earlier numbers were never released. */
const schemaVersion = 9;

export const recordTables = ['payments', 'refunds', 'payouts', 'disputes', 'callbacks', 'calls'] as const;
const namedById: readonly string[] = ['disputes', 'callbacks', 'calls'];

/** Calls that are kept. Older ones are deleted, 500 at a time. */
const callsKept = 100_000;

/** The columns by which records are found are computed from their JSON. */
const tableOfRecords = (name: string) => `
  CREATE TABLE ${name} (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    record TEXT NOT NULL,
    record_id TEXT AS (record ->> '${namedById.includes(name) ? 'id' : 'token'}'),
    merchant_id INTEGER NOT NULL AS (record ->> 'merchantId'),
    order_number TEXT AS (record ->> 'orderNumber'),
    created_at INTEGER AS (record ->> 'createdAt'),
    expires_at INTEGER AS (record ->> 'expiresAt'),
    due_at INTEGER AS (record ->> 'dueAt'),
    recurring_token TEXT AS (record ->> 'recurringToken')
  ) STRICT;
  CREATE UNIQUE INDEX ${name}_by_id ON ${name} (record_id);
  CREATE INDEX ${name}_by_order_number ON ${name} (merchant_id, order_number);
  CREATE INDEX ${name}_by_creation ON ${name} (merchant_id, created_at);`;

/**
 * Times are milliseconds since the Unix epoch. `hold_lots` determines when each payment's part of a wallet's held money
 * settles.
 */
const schema = `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE merchants (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE merchant_keys (
    hash TEXT PRIMARY KEY,
    merchant_id INTEGER NOT NULL REFERENCES merchants (id),
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE wallets (
    merchant_id INTEGER NOT NULL REFERENCES merchants (id),
    currency TEXT NOT NULL,
    held INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, currency)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE hold_lots (
    token TEXT PRIMARY KEY,
    merchant_id INTEGER NOT NULL REFERENCES merchants (id),
    currency TEXT NOT NULL,
    remaining INTEGER NOT NULL CHECK (remaining >= 0),
    due_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX hold_lots_by_due_time ON hold_lots (due_at);
  ${recordTables.map(tableOfRecords).join('')}
  CREATE TRIGGER trim_calls AFTER INSERT ON calls WHEN new.id % 500 = 0
    BEGIN DELETE FROM calls WHERE id <= new.id - ${callsKept}; END;
  CREATE INDEX callbacks_by_due_time ON callbacks (due_at, id) WHERE due_at IS NOT NULL;
  CREATE INDEX payments_by_expiry ON payments (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX payments_by_recurring_token ON payments (recurring_token) WHERE recurring_token IS NOT NULL;
`;

/**
 * Creates the schema of a new file.
 *
 * @throws StartupError if the file was written by another release.
 */
export function migrate(connection: DatabaseSync): void {
  const version = versionOf(connection);
  if (version === schemaVersion) return;
  if (version !== 0)
    throw new StartupError(
      'database_of_another_release',
      'The database of the Payment Service was written by another release: start that release, or move the file away to begin without payments.',
    );
  connection.exec(`BEGIN; ${schema} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
}

const versionOf = (connection: DatabaseSync): number =>
  Number(connection.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
