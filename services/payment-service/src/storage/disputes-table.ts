import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** A dispute as it is stored; `token` is that of its payment. Times are milliseconds since the Unix epoch. */
export const disputeSchema = z.object({
  id: z.string(),
  merchantId: z.int(),
  token: z.string(),
  orderNumber: z.string().optional(),
  amount: z.int(),
  currency: z.string(),
  status: z.enum(['pending', 'approved', 'declined']),
  type: z.string(),
  reasonCode: z.string(),
  comment: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type Dispute = z.infer<typeof disputeSchema>;

/** Disputes as stored records. Writing functions run inside a transaction. */
export interface DisputesTable {
  insert(dispute: Dispute): void;
  update(dispute: Dispute): void;
  find(id: string): Dispute | undefined;
  /** The newest `limit` of a merchant, or of one `orderNumber`, newest first. */
  list(merchantId: number, orderNumber: string | undefined, limit: number): Dispute[];
}

export function createDisputesTable(connection: DatabaseSync): DisputesTable {
  const insert = connection.prepare(
    'INSERT INTO disputes (dispute_id, merchant_id, order_number, record) VALUES (?, ?, ?, ?)',
  );
  const update = connection.prepare('UPDATE disputes SET record = ? WHERE dispute_id = ?');
  const find = connection.prepare('SELECT record FROM disputes WHERE dispute_id = ?');
  const list = connection.prepare(
    'SELECT record FROM disputes WHERE merchant_id = ?1 AND (?2 IS NULL OR order_number = ?2) ORDER BY id DESC LIMIT ?3',
  );
  return {
    insert: (dispute) => {
      insert.run(dispute.id, dispute.merchantId, dispute.orderNumber ?? null, JSON.stringify(dispute));
    },
    update: (dispute) => {
      update.run(JSON.stringify(dispute), dispute.id);
    },
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? undefined : toDispute(row);
    },
    list: (merchantId, orderNumber, limit) => list.all(merchantId, orderNumber ?? null, limit).map(toDispute),
  };
}

const toDispute = (row: Record<string, unknown>): Dispute =>
  disputeSchema.parse(JSON.parse(String(row['record'])));
