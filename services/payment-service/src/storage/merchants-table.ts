import type { DatabaseSync } from 'node:sqlite';

/** A merchant account of the service. */
export interface Merchant {
  id: number;
  name: string;
}

export type MerchantsTable = ReturnType<typeof createMerchantsTable>;

/** Merchants and the hashes of their keys. Functions that write run inside a transaction. */
export function createMerchantsTable(connection: DatabaseSync) {
  const columns = 'id, name';
  const findByName = connection.prepare(`SELECT ${columns} FROM merchants WHERE name = ?`);
  const findById = connection.prepare(`SELECT ${columns} FROM merchants WHERE id = ?`);
  const insert = connection.prepare('INSERT INTO merchants (name) VALUES (?)');
  const findByKeyHash = connection.prepare(
    `SELECT ${columns} FROM merchant_keys JOIN merchants ON merchants.id = merchant_id WHERE hash = ?`,
  );
  const insertKey = connection.prepare(
    'INSERT INTO merchant_keys (hash, merchant_id, created_at) VALUES (?, ?, ?)',
  );
  return {
    findByName: (name: string): Merchant | undefined => findByName.get(name) as Merchant | undefined,
    findById: (merchantId: number): Merchant | undefined => findById.get(merchantId) as Merchant | undefined,
    insert: (name: string): Merchant => ({ id: Number(insert.run(name).lastInsertRowid), name }),
    findByKeyHash: (hash: string): Merchant | undefined => findByKeyHash.get(hash) as Merchant | undefined,
    insertKey: ({ hash, merchantId, createdAt }: { hash: string; merchantId: number; createdAt: number }) =>
      void insertKey.run(hash, merchantId, createdAt),
  };
}
