import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** A refund as it is stored: `amount` of one payment, in minor units. `createdAt` is milliseconds since the Unix epoch. */
export const refundSchema = z.object({
  token: z.string(),
  merchantId: z.int(),
  paymentToken: z.string(),
  orderNumber: z.string().optional(),
  amount: z.int(),
  currency: z.string(),
  status: z.enum(['pending', 'approved', 'declined']),
  createdAt: z.int(),
});
export type Refund = z.infer<typeof refundSchema>;

/** Refunds as stored records. `insert` runs inside a transaction. */
export interface RefundsTable {
  insert(refund: Refund): void;
  /** The newest `limit` of a merchant, or of one `orderNumber`, oldest first. */
  list(merchantId: number, orderNumber: string | undefined, limit: number): Refund[];
}

export function createRefundsTable(connection: DatabaseSync): RefundsTable {
  const insert = connection.prepare(
    'INSERT INTO refunds (token, merchant_id, payment_token, order_number, record) VALUES (?, ?, ?, ?, ?)',
  );
  const list = connection.prepare(
    `SELECT record FROM refunds WHERE merchant_id = ?1 AND (?2 IS NULL OR order_number = ?2) ORDER BY id DESC LIMIT ?3`,
  );
  return {
    insert: (refund) => {
      const { token, merchantId, paymentToken, orderNumber } = refund;
      insert.run(token, merchantId, paymentToken, orderNumber ?? null, JSON.stringify(refund));
    },
    list: (merchantId, orderNumber, limit) =>
      list
        .all(merchantId, orderNumber ?? null, limit)
        .map((row) => refundSchema.parse(JSON.parse(String(row['record']))))
        .reverse(),
  };
}
