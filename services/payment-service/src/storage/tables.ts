/** Payments, refunds, payouts, disputes, callbacks and calls, stored as JSON. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { z } from 'zod';
import { paymentSchema, type Payment } from '../payments.ts';
import type { recordTables } from './schema.ts';

/** Amounts are in minor units, times milliseconds since the Unix epoch. */
const movementSchema = z.object({
  merchantId: z.int(),
  amount: z.int(),
  currency: z.string(),
  status: z.enum(['pending', 'approved', 'declined']),
  createdAt: z.int(),
});

/** A refund of one payment as it is stored. */
const refundSchema = movementSchema.extend({
  token: z.string(),
  paymentToken: z.string(),
  orderNumber: z.string().optional(),
});
export type Refund = z.infer<typeof refundSchema>;

/** A payout as it is stored. Only a card's mask is kept of its destination. */
const payoutSchema = movementSchema.extend({
  token: z.string(),
  orderNumber: z.string(),
  callbackUrl: z.string().optional(),
  sanitizedMask: z.string().optional(),
  declineReason: z.string().optional(),
  updatedAt: z.int(),
});
export type Payout = z.infer<typeof payoutSchema>;

/** A dispute as it is stored; `token` is that of its payment. */
const disputeSchema = movementSchema.extend({
  id: z.string(),
  token: z.string(),
  orderNumber: z.string().optional(),
  type: z.string(),
  reasonCode: z.string(),
  comment: z.string().nullable(),
  updatedAt: z.int(),
});
export type Dispute = z.infer<typeof disputeSchema>;

/** A callback as it is stored. `dueAt` is absent once it is not sent again. */
const callbackSchema = z.object({
  id: z.string(),
  merchantId: z.int(),
  token: z.string(),
  orderNumber: z.string().optional(),
  status: z.string(),
  url: z.string(),
  body: z.string(),
  state: z.enum(['due', 'delivered', 'given_up', 'dropped']),
  tries: z.int(),
  dueAt: z.int().optional(),
});
export type Callback = z.infer<typeof callbackSchema>;

/** One call by a merchant, with its effect and answer. */
const callSchema = z.object({
  merchantId: z.int(),
  at: z.int(),
  operation: z.string(),
  token: z.string().optional(),
  orderNumber: z.string().optional(),
  effect: z.enum(['created', 'confirmed', 'declined', 'none']),
  /** The HTTP status with the first error code, or the fault that replaced the answer. */
  answer: z.string(),
});
export type Call = z.infer<typeof callSchema>;

/** The filter of a list. Times are milliseconds since the Unix epoch, `createdBefore` exclusive. */
export interface RecordFilter {
  merchantId: number;
  orderNumber?: string | undefined;
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}

export type Tables = ReturnType<typeof createTables>;

/** Functions that write run inside a transaction. */
export const createTables = (connection: DatabaseSync) => ({
  payments: createPaymentsTable(connection),
  refunds: createRecordsTable(connection, 'refunds', refundSchema, tokenOf),
  payouts: createRecordsTable(connection, 'payouts', payoutSchema, tokenOf),
  disputes: createRecordsTable(connection, 'disputes', disputeSchema, ({ id }) => id),
  callbacks: createCallbacksTable(connection),
  /** Written in the transaction of its effect. */
  calls: createRecordsTable(connection, 'calls', callSchema, () => ''),
});

const tokenOf = ({ token }: { token: string }): string => token;

function createPaymentsTable(connection: DatabaseSync) {
  const findFirst = connection.prepare(
    'SELECT record_id FROM payments WHERE recurring_token = ? ORDER BY id LIMIT 1',
  );
  const tokensDue = connection.prepare(
    'SELECT record_id FROM payments WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
  );
  const nextExpiry = connection.prepare(
    'SELECT expires_at FROM payments WHERE expires_at IS NOT NULL ORDER BY expires_at LIMIT 1',
  );
  const records = createRecordsTable(connection, 'payments', paymentSchema, tokenOf);
  return {
    ...records,
    /** The payment whose approval issued a recurring token; repeat payments carry the same token. */
    findFirstOf: (recurringToken: string): Payment | undefined =>
      findFirst.all(recurringToken).flatMap((row) => records.find(String(row['record_id'])) ?? [])[0],
    /** Tokens of payments that are due to expire, oldest first. */
    tokensDue: (now: number, limit: number): string[] =>
      tokensDue.all(now, limit).map((row) => String(row['record_id'])),
    nextExpiry: (): number | undefined => nextExpiry.all().map((row) => Number(row['expires_at']))[0],
  };
}

function createCallbacksTable(connection: DatabaseSync) {
  const records = createRecordsTable(connection, 'callbacks', callbackSchema, ({ id }) => id);
  const due = connection.prepare(
    'SELECT record FROM callbacks WHERE due_at <= ? ORDER BY due_at, id LIMIT ?',
  );
  const nextDue = connection.prepare(
    'SELECT due_at FROM callbacks WHERE due_at > ? ORDER BY due_at, id LIMIT 1',
  );
  return {
    ...records,
    /** In the order in which they fell due. */
    due: (now: number, limit: number): Callback[] => due.all(now, limit).map(records.read),
    nextDueAfter: (now: number): number | undefined =>
      nextDue.all(now).map((row) => Number(row['due_at']))[0],
  };
}

function createRecordsTable<Item>(
  connection: DatabaseSync,
  table: (typeof recordTables)[number],
  schema: z.ZodType<Item>,
  idOf: (item: Item) => string,
) {
  const read = (row: Record<string, unknown>): Item => schema.parse(JSON.parse(String(row['record'])));
  const insert = connection.prepare(`INSERT INTO ${table} (record) VALUES (?)`);
  const update = connection.prepare(`UPDATE ${table} SET record = ? WHERE record_id = ?`);
  const find = connection.prepare(`SELECT record FROM ${table} WHERE record_id = ?`);
  return {
    read,
    insert: (item: Item) => void insert.run(JSON.stringify(item)),
    update: (item: Item) => void update.run(JSON.stringify(item), idOf(item)),
    find: (id: string): Item | undefined => find.all(id).map(read)[0],
    /** Newest first. */
    list: (filter: RecordFilter, { offset = 0, limit }: { offset?: number; limit: number }): Item[] => {
      const { where, values } = toCondition(filter);
      const sql = `SELECT record FROM ${table} ${where} ORDER BY id DESC LIMIT ? OFFSET ?`;
      return connection
        .prepare(sql)
        .all(...values, limit, offset)
        .map(read);
    },
    count: (filter: RecordFilter): number => {
      const { where, values } = toCondition(filter);
      const sql = `SELECT count(*) AS count FROM ${table} ${where}`;
      return Number(connection.prepare(sql).get(...values)?.['count']);
    },
  };
}

function toCondition(filter: RecordFilter): { where: string; values: SQLInputValue[] } {
  const conditions: [string, SQLInputValue | undefined][] = [
    ['merchant_id = ?', filter.merchantId],
    ['order_number = ?', filter.orderNumber],
    ['created_at >= ?', filter.createdFrom],
    ['created_at < ?', filter.createdBefore],
  ];
  const given = conditions.filter((entry): entry is [string, SQLInputValue] => entry[1] !== undefined);
  return {
    where: `WHERE ${given.map(([sql]) => sql).join(' AND ')}`,
    values: given.map(([, value]) => value),
  };
}
