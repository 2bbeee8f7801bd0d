import type { DatabaseSync } from 'node:sqlite';

/** A merchant account of the service. */
export interface Merchant {
  id: number;
  name: string;
  /** Refuse a second payment with the same `orderNumber`. */
  uniqueOrderNumber: boolean;
}

/** Merchants and the hashes of their keys. Writing functions run inside a transaction. */
export interface MerchantsTable {
  findByName(name: string): Merchant | undefined;
  insert(name: string): Merchant;
  setUniqueOrderNumber(merchantId: number, isUnique: boolean): void;
  /** Every key whose hash begins with `prefix`, so that the caller can compare the whole hash in constant time. */
  keysByHashPrefix(prefix: string): { hash: string; merchant: Merchant }[];
  insertKey(key: { hash: string; merchantId: number; createdAt: number }): void;
}

export function createMerchantsTable(connection: DatabaseSync): MerchantsTable {
  const findByName = connection.prepare('SELECT id, name, unique_order_number FROM merchants WHERE name = ?');
  const insert = connection.prepare('INSERT INTO merchants (name) VALUES (?)');
  const setUnique = connection.prepare('UPDATE merchants SET unique_order_number = ? WHERE id = ?');
  const keysByHashPrefix = connection.prepare(
    `SELECT hash, id, name, unique_order_number FROM merchant_keys JOIN merchants ON merchants.id = merchant_id
     WHERE hash >= ? AND hash < ? || 'g'`,
  );
  const insertKey = connection.prepare(
    'INSERT INTO merchant_keys (hash, merchant_id, created_at) VALUES (?, ?, ?)',
  );
  return {
    findByName: (name) => {
      const row = findByName.get(name);
      return row === undefined ? undefined : toMerchant(row);
    },
    insert: (name) => ({ id: Number(insert.run(name).lastInsertRowid), name, uniqueOrderNumber: false }),
    setUniqueOrderNumber: (merchantId, isUnique) => {
      setUnique.run(isUnique ? 1 : 0, merchantId);
    },
    keysByHashPrefix: (prefix) =>
      keysByHashPrefix
        .all(prefix, prefix)
        .map((row) => ({ hash: String(row['hash']), merchant: toMerchant(row) })),
    insertKey: ({ hash, merchantId, createdAt }) => {
      insertKey.run(hash, merchantId, createdAt);
    },
  };
}

const toMerchant = (row: Record<string, unknown>): Merchant => ({
  id: Number(row['id']),
  name: String(row['name']),
  uniqueOrderNumber: row['unique_order_number'] === 1,
});
