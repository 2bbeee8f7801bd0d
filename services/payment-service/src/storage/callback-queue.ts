import type { DatabaseSync } from 'node:sqlite';

/** A callback that awaits delivery. `dueAt` is milliseconds since the Unix epoch on the service's clock. */
export interface NewCallback {
  merchantId: number;
  token: string;
  orderNumber: string | undefined;
  status: string;
  url: string;
  body: string;
  dueAt: number;
}

export interface QueuedCallback {
  id: number;
  token: string;
  status: string;
  url: string;
  body: string;
  tries: number;
}

/** The state of a callback, for the ledger. */
interface CallbackRecord {
  token: string;
  orderNumber: string | null;
  status: string;
  state: 'due' | 'delivered' | 'given_up' | 'dropped';
  tries: number;
}

export type CallbackQueue = ReturnType<typeof createCallbackQueue>;

/** The durable queue of callbacks. Functions that write run inside a transaction. */
export function createCallbackQueue(connection: DatabaseSync) {
  const insert = connection.prepare(
    `INSERT INTO callbacks (merchant_id, token, order_number, status, url, body, state, tries, due_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)`,
  );
  const due = connection.prepare(
    `SELECT id, token, status, url, body, tries FROM callbacks WHERE state = 'due' AND due_at <= ?
     ORDER BY due_at, id LIMIT ?`,
  );
  const nextDue = connection.prepare(
    "SELECT due_at FROM callbacks WHERE state = 'due' AND due_at > ? ORDER BY due_at, id LIMIT 1",
  );
  const settle = connection.prepare('UPDATE callbacks SET state = ?, tries = ? WHERE id = ?');
  const retryAt = connection.prepare('UPDATE callbacks SET due_at = ?, tries = ? WHERE id = ?');
  const records = connection.prepare(
    `SELECT token, order_number AS orderNumber, status, state, tries FROM callbacks
     WHERE merchant_id = ?1 AND (?2 IS NULL OR order_number = ?2) ORDER BY id DESC LIMIT ?3`,
  );
  return {
    add: (callback: NewCallback, state: 'due' | 'dropped' = 'due'): void => {
      const { merchantId, token, orderNumber, status, url, body, dueAt } = callback;
      insert.run(merchantId, token, orderNumber ?? null, status, url, body, state, dueAt);
    },
    /** Due callbacks, in the order in which they fell due. */
    due: (now: number, limit: number): QueuedCallback[] =>
      due.all(now, limit).map((row) => ({ ...row }) as unknown as QueuedCallback),
    nextDueAfter: (now: number): number | undefined =>
      nextDue.all(now).map((row) => Number(row['due_at']))[0],
    settle: (id: number, state: 'delivered' | 'given_up', tries: number): void => {
      settle.run(state, tries, id);
    },
    retryAt: (id: number, dueAt: number, tries: number): void => {
      retryAt.run(dueAt, tries, id);
    },
    /** The newest `limit` callbacks of a merchant, oldest first. */
    records: (merchantId: number, orderNumber: string | undefined, limit: number): CallbackRecord[] =>
      records
        .all(merchantId, orderNumber ?? null, limit)
        .map((row) => ({ ...row }) as unknown as CallbackRecord)
        .reverse(),
  };
}
