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

/**
 * Minimum number of calls kept, separately for calls that moved money and others. Older calls are deleted, 500 at a
 * time.
 */
export const callsKept = 10_000;
const callsBetweenTrims = 500;
const isIdle = "effect = 'none'";

export type CallLog = ReturnType<typeof createCallLog>;

/** The calls of all merchants. `add` runs inside a transaction, so that an effect and its record are durable together. */
export function createCallLog(connection: DatabaseSync) {
  const insert = connection.prepare('INSERT INTO calls (record) VALUES (?)');
  // Frequent reads and refused calls must not displace calls that moved money.
  const trims = [isIdle, `NOT ${isIdle}`].map((kind) =>
    connection.prepare(
      `DELETE FROM calls WHERE ${kind} AND id <=
         (SELECT id FROM calls WHERE ${kind} ORDER BY id DESC LIMIT 1 OFFSET ${callsKept})`,
    ),
  );
  const list = connection.prepare(
    `SELECT record FROM calls WHERE merchant_id = ?1 AND (?2 IS NULL OR order_number = ?2) ORDER BY id`,
  );
  return {
    add: (call: CallRecord): void => {
      const id = Number(insert.run(JSON.stringify(call)).lastInsertRowid);
      if (id % callsBetweenTrims === 0) for (const trim of trims) trim.run();
    },
    /** The calls of a merchant, oldest first. */
    list: (merchantId: number, orderNumber: string | undefined): CallRecord[] =>
      list.all(merchantId, orderNumber ?? null).map((row) => JSON.parse(String(row['record'])) as CallRecord),
  };
}
