/**
 * An example consumer: it books the money of payments and payouts, each change once, although delivery is at least once.
 * Copy it; the key is in `handle`: the effect of a record and the note that it was seen are one transaction.
 *
 * Any client can feed `handle`: `docs/team/topics.md` uses a Kafka client.
 */
import { DatabaseSync } from 'node:sqlite';
import { type DecodedGatewayRecord, decodeGatewayRecord } from '../src/consumer/gateway-records.ts';
import type { EncodedRecord } from '../src/topics/record-format.ts';

interface Entry {
  /** Token of the payment or payout. */
  token: string;
  /** The booked event. */
  event: string;
  /** Minor units; negative where money goes out. */
  amount: number;
  currency: string;
}

export interface Bookkeeper {
  /**
   * Takes records of one partition in order. If it throws, nothing of the batch was booked: do not commit the offset, and the
   * batch is delivered again.
   */
  handle(batch: readonly EncodedRecord[]): void;
  entries(): Entry[];
  /** How many records could not be read; they are kept for a person to examine. */
  setAsideCount(): number;
  close(): void;
}

const schemaSql = `
  CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY, token TEXT NOT NULL, event TEXT NOT NULL, amount INTEGER NOT NULL, currency TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entries_by_token ON entries (token);
  CREATE TABLE IF NOT EXISTS seen (key TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS set_aside (
    key TEXT NOT NULL, headers TEXT NOT NULL, value BLOB NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (key, headers)
  ) STRICT, WITHOUT ROWID;`;

export function openBookkeeper(file: string): Bookkeeper {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schemaSql}`);
  // Changes a row only if the number is higher than the last one of this key: a repeat changes nothing.
  const see = database.prepare(
    `INSERT INTO seen VALUES (?1, ?2)
     ON CONFLICT (key) DO UPDATE SET sequence = ?2 WHERE ?2 > sequence`,
  );
  const selectBooked = database.prepare(
    'SELECT coalesce(sum(amount), 0) AS booked FROM entries WHERE token = ?',
  );
  const insertEntry = database.prepare(
    'INSERT INTO entries (token, event, amount, currency) VALUES (?, ?, ?, ?)',
  );
  const setAside = database.prepare('INSERT OR IGNORE INTO set_aside VALUES (?, ?, ?, ?)');

  function take(record: EncodedRecord): void {
    const decoded = decodeGatewayRecord(record);
    switch (decoded.kind) {
      case 'payment':
      case 'payout':
        if (see.run(record.key, decoded.event.sequence).changes > 0) book(decoded);
        return;
      case 'unreadable':
        // Stopping here would block every later record, and dropping the record would lose it.
        setAside.run(record.key, JSON.stringify(record.headers), record.value, decoded.reason);
        return;
      case 'dispute':
      case 'journal':
      case 'unknown-type':
        return;
    }
  }

  /** Books the difference between the money of a payment or payout and the amount booked so far. */
  function book(decoded: Extract<DecodedGatewayRecord, { kind: 'payment' | 'payout' }>): void {
    const { token, currency } = decoded.kind === 'payment' ? decoded.payment : decoded.payout;
    const change = moneyOf(decoded) - Number(selectBooked.get(token)?.['booked']);
    if (change !== 0) insertEntry.run(token, decoded.event.type, change, currency);
  }

  return {
    handle: (batch) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        for (const record of batch) take(record);
        database.exec('COMMIT');
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    entries: () =>
      database
        .prepare('SELECT token, event, amount, currency FROM entries ORDER BY number')
        .all()
        .map((row) => ({ ...row }) as unknown as Entry),
    setAsideCount: () => Number(database.prepare('SELECT count(*) AS count FROM set_aside').get()?.['count']),
    close: () => database.close(),
  };
}

/** Income of a payment, or cost of a payout, after the event. */
function moneyOf(decoded: Extract<DecodedGatewayRecord, { kind: 'payment' | 'payout' }>): number {
  if (decoded.kind === 'payment') return decoded.payment.approvedAmount - decoded.payment.refundedAmount;
  return decoded.payout.status === 'approved' ? -decoded.payout.amount : 0;
}
