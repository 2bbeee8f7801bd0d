import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';

/** A callback that waits for its delivery. `dueAt` is milliseconds since the Unix epoch on the service's clock. */
export interface NewCallback {
  merchantId: number;
  token: string;
  orderNumber: string | undefined;
  status: string;
  url: string;
  body: string;
  dueAt: number;
  /** Stands back until the payment's next callback is queued, and is sent after that; at `dueAt` if none comes. */
  waitsForNext?: boolean;
}

export interface QueuedCallback {
  id: number;
  token: string;
  status: string;
  url: string;
  body: string;
  tries: number;
}

type CallbackState = 'due' | 'delivered' | 'given_up' | 'dropped';

/** What became of a callback, for the ledger. */
interface CallbackRecord {
  token: string;
  orderNumber: string | null;
  status: string;
  state: CallbackState;
  tries: number;
}

/** The durable queue of callbacks. Writing functions run inside a transaction. */
export interface CallbackQueue {
  add(callback: NewCallback, state?: 'due' | 'dropped'): void;
  /** Due callbacks, in the order in which they fell due. */
  due(now: number, limit: number): QueuedCallback[];
  /** The first due time after `now`. */
  nextDueAfter(now: number): number | undefined;
  settle(id: number, state: 'delivered' | 'given_up', tries: number): void;
  retryAt(id: number, dueAt: number, tries: number): void;
  /** The newest `limit` callbacks of a merchant, oldest first. */
  records(merchantId: number, orderNumber: string | undefined, limit: number): CallbackRecord[];
}

export function createCallbackQueue(connection: DatabaseSync): CallbackQueue {
  const columns = 'merchant_id, token, order_number, status, url, body, state, tries, due_at';
  const insert = connection.prepare(
    `INSERT INTO callbacks (${columns}, waits_for_next) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
  );
  const passWaiting = connection.prepare(
    `INSERT INTO callbacks (${columns}) SELECT merchant_id, token, order_number, status, url, body, state, tries, ?
     FROM callbacks WHERE token = ? AND waits_for_next = 1 AND state = 'due' ORDER BY id`,
  );
  const removeWaiting = connection.prepare(
    "DELETE FROM callbacks WHERE token = ? AND waits_for_next = 1 AND state = 'due'",
  );
  const due = connection.prepare(
    `SELECT id, token, status, url, body, tries FROM callbacks WHERE state = 'due' AND due_at <= ?
     ORDER BY due_at, id LIMIT ?`,
  );
  const nextDue = connection.prepare(
    "SELECT due_at FROM callbacks WHERE state = 'due' AND due_at > ? ORDER BY due_at, id LIMIT 1",
  );
  const settle = connection.prepare('UPDATE callbacks SET state = ?, tries = ? WHERE id = ?');
  const retryAt = connection.prepare(
    'UPDATE callbacks SET due_at = ?, tries = ?, waits_for_next = 0 WHERE id = ?',
  );
  const recordColumns =
    'SELECT token, order_number, status, state, tries FROM callbacks WHERE merchant_id = ?';
  const records = connection.prepare(`${recordColumns} ORDER BY id DESC LIMIT ?`);
  const recordsOfOrder = connection.prepare(`${recordColumns} AND order_number = ? ORDER BY id DESC LIMIT ?`);
  return {
    add: (callback, state = 'due') => {
      const { merchantId, token, orderNumber, status, url, body, dueAt, waitsForNext = false } = callback;
      insert.run(
        merchantId,
        token,
        orderNumber ?? null,
        status,
        url,
        body,
        state,
        dueAt,
        waitsForNext ? 1 : 0,
      );
      if (waitsForNext) return;
      // Rewritten, a waiting one gets a later id and so its place behind the one just added.
      if (Number(passWaiting.run(dueAt, token).changes) > 0) removeWaiting.run(token);
    },
    due: (now, limit) => due.all(now, limit).map((row) => ({ ...row }) as unknown as QueuedCallback),
    nextDueAfter: (now) => {
      const row = nextDue.get(now);
      return row === undefined ? undefined : Number(row['due_at']);
    },
    settle: (id, state, tries) => {
      settle.run(state, tries, id);
    },
    retryAt: (id, dueAt, tries) => {
      retryAt.run(dueAt, tries, id);
    },
    records: (merchantId, orderNumber, limit) => {
      const rows =
        orderNumber === undefined
          ? records.all(merchantId, limit)
          : recordsOfOrder.all(merchantId, orderNumber, limit);
      return rows.map(toRecord).reverse();
    },
  };
}

const toRecord = (row: Record<string, SQLOutputValue>): CallbackRecord => ({
  token: String(row['token']),
  orderNumber: row['order_number'] === null ? null : String(row['order_number']),
  status: String(row['status']),
  state: row['state'] as CallbackState,
  tries: Number(row['tries']),
});
