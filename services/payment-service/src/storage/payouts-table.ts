import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** A payout as it is stored. Of its destination only a card's mask is kept; times are milliseconds since the Unix epoch. */
export const payoutSchema = z.object({
  token: z.string(),
  merchantId: z.int(),
  status: z.enum(['pending', 'approved', 'declined']),
  amount: z.int(),
  currency: z.string(),
  orderNumber: z.string(),
  callbackUrl: z.string().optional(),
  sanitizedMask: z.string().optional(),
  declineReason: z.string().optional(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type Payout = z.infer<typeof payoutSchema>;

/** Payouts as stored records. `insert` runs inside a transaction. Lists of them: `operations-list.ts`. */
export interface PayoutsTable {
  insert(payout: Payout): void;
  find(token: string): Payout | undefined;
  /** The newest `limit` of a merchant, or of one `orderNumber`, oldest first. */
  list(merchantId: number, orderNumber: string | undefined, limit: number): Payout[];
}

export const toPayout = (row: Record<string, unknown>): Payout =>
  payoutSchema.parse(JSON.parse(String(row['record'])));

export function createPayoutsTable(connection: DatabaseSync): PayoutsTable {
  const insert = connection.prepare(
    'INSERT INTO payouts (token, merchant_id, order_number, created_at, record) VALUES (?, ?, ?, ?, ?)',
  );
  const find = connection.prepare('SELECT record FROM payouts WHERE token = ?');
  const list = connection.prepare(
    'SELECT record FROM payouts WHERE merchant_id = ?1 AND (?2 IS NULL OR order_number = ?2) ORDER BY id DESC LIMIT ?3',
  );
  return {
    insert: (payout) => {
      const { token, merchantId, orderNumber, createdAt } = payout;
      insert.run(token, merchantId, orderNumber, createdAt, JSON.stringify(payout));
    },
    find: (token) => {
      const row = find.get(token);
      return row === undefined ? undefined : toPayout(row);
    },
    list: (merchantId, orderNumber, limit) =>
      list
        .all(merchantId, orderNumber ?? null, limit)
        .map(toPayout)
        .reverse(),
  };
}
