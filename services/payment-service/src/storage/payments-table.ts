import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { paymentSchema, type Payment } from '../payments.ts';

/** Which payments a list shows. Times are milliseconds since the Unix epoch, `createdBefore` exclusive. */
export interface PaymentFilter {
  merchantId: number;
  orderNumber?: string | undefined;
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}

/** Payments as stored records. Writing functions run inside a transaction. */
export interface PaymentsTable {
  insert(payment: Payment): void;
  update(payment: Payment): void;
  find(token: string): Payment | undefined;
  /** The payment at whose approval a recurring token was given out; repeat payments carry the same token. */
  findFirstOf(recurringToken: string): Payment | undefined;
  existsOrderNumber(merchantId: number, orderNumber: string): boolean;
  /** Newest first. */
  list(filter: PaymentFilter, page: { offset: number; limit: number }): Payment[];
  count(filter: PaymentFilter): number;
  /** Tokens of payments whose expiry has come, oldest first. */
  tokensDue(now: number, limit: number): string[];
  nextExpiry(): number | undefined;
}

export function createPaymentsTable(connection: DatabaseSync): PaymentsTable {
  const insert = connection.prepare(
    `INSERT INTO payments (token, merchant_id, order_number, created_at, expires_at, record) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const update = connection.prepare('UPDATE payments SET expires_at = ?, record = ? WHERE token = ?');
  const find = connection.prepare('SELECT record FROM payments WHERE token = ?');
  const rememberToken = connection.prepare(
    'INSERT OR IGNORE INTO recurring_tokens (token, merchant_id, payment_token) VALUES (?, ?, ?)',
  );
  const findFirst = connection.prepare(
    'SELECT record FROM payments JOIN recurring_tokens ON payment_token = payments.token WHERE recurring_tokens.token = ?',
  );
  const existsOrderNumber = connection.prepare(
    'SELECT 1 FROM payments WHERE merchant_id = ? AND order_number = ? LIMIT 1',
  );
  const tokensDue = connection.prepare(
    'SELECT token FROM payments WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
  );
  const nextExpiry = connection.prepare(
    'SELECT expires_at FROM payments WHERE expires_at IS NOT NULL ORDER BY expires_at LIMIT 1',
  );
  return {
    insert: (payment) => {
      const { token, merchantId, orderNumber, createdAt, expiresAt } = payment;
      const record = JSON.stringify(payment);
      insert.run(token, merchantId, orderNumber ?? null, createdAt, expiresAt ?? null, record);
    },
    update: (payment) => {
      update.run(payment.expiresAt ?? null, JSON.stringify(payment), payment.token);
      const { recurringToken, merchantId, token } = payment;
      if (recurringToken !== undefined) rememberToken.run(recurringToken, merchantId, token);
    },
    find: (token) => {
      const row = find.get(token);
      return row === undefined ? undefined : toPayment(row);
    },
    findFirstOf: (recurringToken) => {
      const row = findFirst.get(recurringToken);
      return row === undefined ? undefined : toPayment(row);
    },
    existsOrderNumber: (merchantId, orderNumber) =>
      existsOrderNumber.get(merchantId, orderNumber) !== undefined,
    list: (filter, page) => {
      const { where, values } = toCondition(filter);
      const statement = connection.prepare(
        `SELECT record FROM payments ${where} ORDER BY id DESC LIMIT ? OFFSET ?`,
      );
      return statement.all(...values, page.limit, page.offset).map(toPayment);
    },
    count: (filter) => {
      const { where, values } = toCondition(filter);
      return Number(
        connection.prepare(`SELECT count(*) AS count FROM payments ${where}`).get(...values)?.['count'],
      );
    },
    tokensDue: (now, limit) => tokensDue.all(now, limit).map((row) => String(row['token'])),
    nextExpiry: () => {
      const row = nextExpiry.get();
      return row === undefined ? undefined : Number(row['expires_at']);
    },
  };
}

export const toPayment = (row: Record<string, unknown>): Payment =>
  paymentSchema.parse(JSON.parse(String(row['record'])));

/** The condition of a filter in SQL, for payments and for payouts. */
export function toCondition(filter: PaymentFilter): { where: string; values: SQLInputValue[] } {
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
