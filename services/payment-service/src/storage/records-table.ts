/** Refunds, payouts and disputes as stored records: whole as JSON, with columns beside it for what is searched. */
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** A refund as it is stored: `amount` of one payment, in minor units. `createdAt` is milliseconds since the Unix epoch. */
const refundSchema = z.object({
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

/** A payout as it is stored. Of its destination only a card's mask is kept; times are milliseconds since the Unix epoch. */
const payoutSchema = z.object({
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

/** A dispute as it is stored; `token` is that of its payment. Times are milliseconds since the Unix epoch. */
const disputeSchema = z.object({
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

interface StoredRecord {
  merchantId: number;
  orderNumber?: string | undefined;
  createdAt: number;
}

/** Writing functions run inside a transaction. */
export interface RecordsTable<Item> {
  insert(item: Item): void;
  update(item: Item): void;
  find(id: string): Item | undefined;
  /** The newest `limit` of a merchant, or of one `orderNumber`, newest first. */
  list(merchantId: number, orderNumber: string | undefined, limit: number): Item[];
}

type Row = Record<string, unknown>;
const readerOf =
  <Item>(schema: z.ZodType<Item>) =>
  (row: Row): Item =>
    schema.parse(JSON.parse(String(row['record'])));

export const toPayout = readerOf(payoutSchema);

function createRecordsTable<Item extends StoredRecord>(
  connection: DatabaseSync,
  table: 'refunds' | 'payouts' | 'disputes',
  { read, idOf }: { read: (row: Row) => Item; idOf: (item: Item) => string },
): RecordsTable<Item> {
  const insert = connection.prepare(
    `INSERT INTO ${table} (record_id, merchant_id, order_number, created_at, record) VALUES (?, ?, ?, ?, ?)`,
  );
  const update = connection.prepare(`UPDATE ${table} SET record = ? WHERE record_id = ?`);
  const find = connection.prepare(`SELECT record FROM ${table} WHERE record_id = ?`);
  const list = connection.prepare(
    `SELECT record FROM ${table} WHERE merchant_id = ?1 AND (?2 IS NULL OR order_number = ?2) ORDER BY id DESC LIMIT ?3`,
  );
  return {
    insert: (item) => {
      const { merchantId, orderNumber = null, createdAt } = item;
      insert.run(idOf(item), merchantId, orderNumber, createdAt, JSON.stringify(item));
    },
    update: (item) => {
      update.run(JSON.stringify(item), idOf(item));
    },
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? undefined : read(row);
    },
    list: (merchantId, orderNumber, limit) => list.all(merchantId, orderNumber ?? null, limit).map(read),
  };
}

const tokenOf = ({ token }: { token: string }): string => token;

export const createRecordsTables = (connection: DatabaseSync) => ({
  refunds: createRecordsTable<Refund>(connection, 'refunds', { read: readerOf(refundSchema), idOf: tokenOf }),
  payouts: createRecordsTable<Payout>(connection, 'payouts', { read: toPayout, idOf: tokenOf }),
  disputes: createRecordsTable<Dispute>(connection, 'disputes', {
    read: readerOf(disputeSchema),
    idOf: ({ id }) => id,
  }),
});
