import type { DatabaseSync } from 'node:sqlite';

/** A merchant account of the service. */
export interface Merchant {
  id: number;
  name: string;
  /** Refuse a second payment with the same `orderNumber`. */
  uniqueOrderNumber: boolean;
}

/** Approvals required before a merchant gets a production key (specification, section 1). */
export const approvals = ['compliance', 'commercial', 'technical'] as const;
export type Approval = (typeof approvals)[number];

/** A key as an operator sees it. Times are milliseconds since the Unix epoch. */
export interface KeyRecord {
  keyId: string;
  /** The beginning of the key. */
  shown: string;
  createdAt: number;
  revokedAt: number | undefined;
}

export type MerchantsTable = ReturnType<typeof createMerchantsTable>;

/**
 * Merchants, their approvals and the hashes of their keys. Functions that write run inside a transaction.
 *
 * An operator's command writes these tables while the service runs, so they must not be cached in memory.
 */
export const createMerchantsTable = (connection: DatabaseSync) => ({
  ...createAccounts(connection),
  ...createKeys(connection),
  ...createApprovals(connection),
});

function createAccounts(connection: DatabaseSync) {
  const columns = 'id, name, unique_order_number';
  const findByName = connection.prepare(`SELECT ${columns} FROM merchants WHERE name = ?`);
  const findById = connection.prepare(`SELECT ${columns} FROM merchants WHERE id = ?`);
  const list = connection.prepare(`SELECT ${columns} FROM merchants ORDER BY name`);
  const insert = connection.prepare('INSERT INTO merchants (name) VALUES (?)');
  const setUnique = connection.prepare('UPDATE merchants SET unique_order_number = ? WHERE id = ?');
  return {
    findByName: (name: string): Merchant | undefined => findByName.all(name).map(toMerchant)[0],
    findById: (merchantId: number): Merchant | undefined => findById.all(merchantId).map(toMerchant)[0],
    /** By name. */
    list: () => list.all().map(toMerchant),
    insert: (name: string) => ({
      id: Number(insert.run(name).lastInsertRowid),
      name,
      uniqueOrderNumber: false,
    }),
    setUniqueOrderNumber: (merchantId: number, isUnique: boolean) => {
      setUnique.run(isUnique ? 1 : 0, merchantId);
    },
  };
}

function createKeys(connection: DatabaseSync) {
  const keysByHashPrefix = connection.prepare(
    `SELECT hash, revoked_at, id, name, unique_order_number
     FROM merchant_keys JOIN merchants ON merchants.id = merchant_id WHERE hash >= ? AND hash < ? || 'g'`,
  );
  const insertKey = connection.prepare(
    'INSERT INTO merchant_keys (hash, key_id, shown, merchant_id, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const columns = 'key_id, shown, created_at, revoked_at';
  const keysOf = connection.prepare(
    `SELECT ${columns} FROM merchant_keys WHERE merchant_id = ? ORDER BY created_at, key_id`,
  );
  const keysBeginningWith = connection.prepare(
    `SELECT ${columns} FROM merchant_keys WHERE substr(key_id, 1, length(?1)) = ?1 OR substr(shown, 1, length(?1)) = ?1`,
  );
  const revokeKey = connection.prepare(
    'UPDATE merchant_keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL',
  );
  return {
    /** Every key whose hash begins with `prefix`, so that the caller can compare the whole hash in constant time. */
    keysByHashPrefix: (prefix: string) =>
      keysByHashPrefix.all(prefix, prefix).map((row) => ({
        hash: String(row['hash']),
        isRevoked: row['revoked_at'] !== null,
        merchant: toMerchant(row),
      })),
    insertKey: (key: { hash: string; merchantId: number } & Omit<KeyRecord, 'revokedAt'>): void => {
      const { hash, keyId, shown, merchantId, createdAt } = key;
      insertKey.run(hash, keyId, shown, merchantId, createdAt);
    },
    /** Oldest first. */
    keysOf: (merchantId: number) => keysOf.all(merchantId).map(toKeyRecord),
    /** Keys whose identifier, or whose text, begins with `beginning`. */
    keysBeginningWith: (beginning: string) => keysBeginningWith.all(beginning).map(toKeyRecord),
    revokeKey: (keyId: string, revokedAt: number) => {
      revokeKey.run(revokedAt, keyId);
    },
  };
}

function createApprovals(connection: DatabaseSync) {
  const approvalsOf = connection.prepare('SELECT kind FROM merchant_approvals WHERE merchant_id = ?');
  const approve = connection.prepare(
    'INSERT INTO merchant_approvals (merchant_id, kind, approved_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  return {
    approvalsOf: (merchantId: number) => {
      const kinds = new Set(approvalsOf.all(merchantId).map((row) => row['kind']));
      return approvals.filter((kind) => kinds.has(kind));
    },
    /** Approving again changes nothing. */
    approve: (approval: { merchantId: number; kind: Approval; approvedAt: number }): void => {
      const { merchantId, kind, approvedAt } = approval;
      approve.run(merchantId, kind, approvedAt);
    },
  };
}

const toMerchant = (row: Record<string, unknown>): Merchant => ({
  id: Number(row['id']),
  name: String(row['name']),
  uniqueOrderNumber: row['unique_order_number'] === 1,
});

const toKeyRecord = (row: Record<string, unknown>): KeyRecord => ({
  keyId: String(row['key_id']),
  shown: String(row['shown']),
  createdAt: Number(row['created_at']),
  revokedAt: row['revoked_at'] === null ? undefined : Number(row['revoked_at']),
});
