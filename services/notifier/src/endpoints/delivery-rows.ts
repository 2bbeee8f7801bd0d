/**
 * Which webhooks each endpoint has, and how far they are: small rows that lead to the streams. They are made from the
 * streams when somebody first asks after a start, in a temporary file of SQLite that nobody else sees.
 */
import { DatabaseSync } from 'node:sqlite';
import { beginning, type Position, type RecordedEvent } from '@tollgate/event-store';
import type { DeliveryStatus } from '@tollgate/gateway-api/http';
import {
  decodeWebhookEvent,
  endpointOfToken,
  tokenOfWebhookStream,
  type WebhookEvent,
} from '../webhook-events.ts';

/** Delivered ones of an endpoint that are kept; those that were not delivered all are. */
const deliveredMax = 10_000;
/** Not with each one. */
const trimEvery = 1_000;

/** In the order in which they are shown. */
const ranks = { given_up: 0, retried: 1, fresh: 2, delivered: 3 } as const;
const ranksOf: Readonly<Record<DeliveryStatus, readonly number[]>> = {
  failed: [ranks.given_up],
  open: [ranks.retried, ranks.fresh],
  delivered: [ranks.delivered],
};

export interface DeliveryRow {
  id: string;
  /** Of the stream that it is in. */
  token: string;
  rank: number;
  /** Of its first event in the store, so that it is the same in every process: a cursor made of it leads on in any of them. */
  place: Position;
}

/** A place in a cursor; undefined for what is none. */
export const parsePlace = (text: string): Position | undefined =>
  /^[\d-]{16,41}$/.test(text) ? (text as Position) : undefined;

interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  /** Milliseconds since the Unix epoch. */
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}

export interface DeliveryRows {
  apply(event: RecordedEvent): void;
  /** Lets go of what was settled before. */
  removeBefore(settledAt: number): void;
  /** Failed ones first, latest first, after the last row of the page before. */
  page(
    endpoint: string,
    filter: DeliveryFilter,
    after: Pick<DeliveryRow, 'rank' | 'place'> | undefined,
    limit: number,
  ): DeliveryRow[];
  /** Oldest first. */
  oldest(endpoint: string, filter: DeliveryFilter, afterPlace: Position, limit: number): DeliveryRow[];
  find(endpoint: string, id: string): DeliveryRow | undefined;
  close(): void;
}

const schema = `
  CREATE TABLE deliveries (
    place TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, endpoint TEXT NOT NULL, token TEXT NOT NULL,
    rank INTEGER NOT NULL, created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX by_rank ON deliveries (endpoint, rank, place DESC);
`;
const columns = 'id, token, rank, place';

export function createDeliveryRows(): DeliveryRows {
  // Without a name SQLite keeps it for this connection alone, and on disk once it is large.
  const database = new DatabaseSync('');
  database.exec(schema);
  return { apply: createApply(database), ...createReads(database), close: () => database.close() };
}

function createApply(database: DatabaseSync): DeliveryRows['apply'] {
  const insertion = database.prepare(
    'INSERT OR IGNORE INTO deliveries (place, id, endpoint, token, rank, created_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const change = database.prepare('UPDATE deliveries SET rank = ?, changed_at = ? WHERE id = ?');
  const givingUp = database.prepare(
    'UPDATE deliveries SET rank = ?, changed_at = ? WHERE id = ? AND rank <> 3',
  );
  const trimming = database.prepare(`DELETE FROM deliveries WHERE endpoint = ? AND rank = 3 AND place <= (
    SELECT place FROM deliveries WHERE endpoint = ? AND rank = 3 ORDER BY place DESC LIMIT 1 OFFSET ?)`);
  const delivered = new Map<string, number>();

  function countDelivered(endpoint: string): void {
    const count = (delivered.get(endpoint) ?? 0) + 1;
    delivered.set(endpoint, count % trimEvery);
    if (count >= trimEvery) trimming.run(endpoint, endpoint, deliveredMax);
  }

  function applyDecoded(place: Position, token: string, event: WebhookEvent): void {
    const { id, at } = event.data;
    const endpoint = endpointOfToken(token) ?? '';
    switch (event.type) {
      case 'WebhookDue':
        insertion.run(place, id, endpoint, token, ranks.fresh, at, at);
        return;
      case 'DeliveryFailed':
        // An open one without a next attempt is given up with the next event.
        if (event.data.nextAt !== undefined) change.run(ranks.retried, at, id);
        return;
      case 'Delivered':
        change.run(ranks.delivered, at, id);
        countDelivered(endpoint);
        return;
      case 'DeliveryGivenUp':
        givingUp.run(ranks.given_up, at, id);
        return;
      case 'ReplayRequested':
        change.run(ranks.fresh, at, id);
    }
  }

  return (event) =>
    applyDecoded(event.position, tokenOfWebhookStream(event.stream), decodeWebhookEvent(event));
}

function createReads(database: DatabaseSync): Omit<DeliveryRows, 'apply' | 'close'> {
  const removal = database.prepare('DELETE FROM deliveries WHERE changed_at < ? AND rank IN (0, 3)');
  const one = database.prepare(`SELECT ${columns} FROM deliveries WHERE endpoint = ? AND id = ?`);

  function select(
    endpoint: string,
    filter: DeliveryFilter,
    rest: string,
    values: readonly (string | number)[],
  ): DeliveryRow[] {
    const { status, createdFrom = 0, createdBefore = Number.MAX_SAFE_INTEGER } = filter;
    const asked = (status === undefined ? Object.values(ranks) : ranksOf[status]).join(', ');
    const sql = `SELECT ${columns} FROM deliveries WHERE endpoint = ? AND rank IN (${asked})
      AND created_at >= ? AND created_at < ? ${rest}`;
    return database
      .prepare(sql)
      .all(endpoint, createdFrom, createdBefore, ...values)
      .map(toRow);
  }

  return {
    removeBefore: (settledAt) => void removal.run(settledAt),
    page: (endpoint, filter, after = { rank: -1, place: beginning }, limit) =>
      select(endpoint, filter, 'AND (rank > ? OR rank = ? AND place < ?) ORDER BY rank, place DESC LIMIT ?', [
        ...[after.rank, after.rank, after.place, limit],
      ]),
    oldest: (endpoint, filter, afterPlace, limit) =>
      select(endpoint, filter, 'AND place > ? ORDER BY place LIMIT ?', [afterPlace, limit]),
    find: (endpoint, id) => {
      const row = one.get(endpoint, id);
      return row && toRow(row);
    },
  };
}

const toRow = (row: Readonly<Record<string, unknown>>): DeliveryRow => ({
  ...{ id: String(row['id']), token: String(row['token']) },
  ...{ rank: Number(row['rank']), place: String(row['place']) as Position },
});
