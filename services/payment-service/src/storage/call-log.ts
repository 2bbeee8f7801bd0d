import type { DatabaseSync } from 'node:sqlite';

/** One call by a merchant, with its effect and answer. */
export interface CallRecord {
  merchantId: number;
  at: number;
  operation: string;
  token?: string | undefined;
  orderNumber?: string | undefined;
  /** `created`, `confirmed`, `declined` or `none`. */
  effect: string;
  /** The HTTP status with the first error code, or the fault that replaced the answer. */
  answer: string;
}

/** Number of calls kept. Older ones are deleted, 500 at a time. */
const callsKept = 100_000;
const callsBetweenTrims = 500;

export type CallLog = ReturnType<typeof createCallLog>;

/** The calls of all merchants. `add` runs inside a transaction, so that an effect and its record are durable together. */
export function createCallLog(connection: DatabaseSync) {
  const insert = connection.prepare('INSERT INTO calls (record) VALUES (?)');
  const trim = connection.prepare('DELETE FROM calls WHERE id <= ?');
  const list = connection.prepare(
    `SELECT record FROM calls WHERE merchant_id = ?1 AND (?2 IS NULL OR order_number = ?2) ORDER BY id DESC LIMIT ?3`,
  );
  return {
    add(call: CallRecord): void {
      const id = Number(insert.run(JSON.stringify(call)).lastInsertRowid);
      if (id % callsBetweenTrims === 0) trim.run(id - callsKept);
    },
    /** The newest `limit` calls of a merchant, oldest first. */
    list: (merchantId: number, orderNumber: string | undefined, limit: number): CallRecord[] =>
      list
        .all(merchantId, orderNumber ?? null, limit)
        .map((row) => JSON.parse(String(row['record'])) as CallRecord)
        .reverse(),
  };
}
