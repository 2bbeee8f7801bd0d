/**
 * The webhooks of all teams that were not delivered, whatever receiver they are for, and the endpoints that get none. A row is there for as long as its
 * webhook is not delivered, so there are hardly more than open ones, in a temporary file of SQLite that nobody else sees.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Position, RecordedEvent } from '@tollgate/event-store';
import { type Log } from '@tollgate/service-kit';
import {
  type OwnedEndpoint,
  createEndpointDirectory,
  isOfEndpoints,
} from '../endpoints/endpoint-directory.ts';
import { endpointStreamPrefix } from '../endpoints/endpoint-events.ts';
import { type DeliveryListOptions, type FollowedRows, followRows } from '../endpoints/delivery-list.ts';
import {
  decodeWebhookEvent,
  tokenOfWebhookStream,
  webhookStreamPrefix,
  type WebhookEvent,
} from '../webhook-events.ts';

/** `fresh` ones have not failed yet, and are not shown. */
const ranks = { failed: 0, retried: 1, fresh: 2 } as const;

export interface FailingRow {
  id: string;
  /** Of the stream that it is in. */
  token: string;
  /** As that of {@link DeliveryRow}. */
  place: Position;
}

/** Whose webhooks the reader may see; undefined: all. */
export type WebhookOwners = readonly { team: string; environment: string }[] | undefined;

/** What the list is asked by; instants are milliseconds since the Unix epoch. */
interface FailingFilter {
  /** `failed`: no further attempt follows. `open`: one does. */
  status: 'failed' | 'open';
  owners: WebhookOwners;
  team?: string | undefined;
  environment?: string | undefined;
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}

interface FailingRows {
  apply(event: RecordedEvent): void;
  removeBefore(changedAt: number): void;
  /** Latest first, behind the place of the last row of the page before. */
  page(filter: FailingFilter, beforePlace: Position | undefined, limit: number): FailingRow[];
  /** Oldest first. */
  oldest(filter: FailingFilter, afterPlace: Position, limit: number): FailingRow[];
  find(id: string): (FailingRow & { team: string; environment: string }) | undefined;
  count(filter: FailingFilter): number;
  /** Nothing is sent there until somebody enables them, longest disabled first. */
  disabledEndpoints(): OwnedEndpoint[];
  close(): void;
}
export type FailingWebhooks = FollowedRows<FailingRows>;

export const createFailingWebhooks = (options: DeliveryListOptions): FailingWebhooks =>
  followRows(options, {
    ...{ name: 'failing-webhooks', prefixes: [webhookStreamPrefix, endpointStreamPrefix] },
    openRows: () => createFailingRows(options.log),
  });

const schema = `
  CREATE TABLE webhooks (
    place TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, token TEXT NOT NULL, team TEXT NOT NULL,
    environment TEXT NOT NULL, rank INTEGER NOT NULL, created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX by_rank ON webhooks (rank, place);
`;
const columns = 'id, token, place';

function createFailingRows(log: Log): FailingRows {
  const endpoints = createEndpointDirectory(log);
  // Without a name SQLite keeps it for this connection alone, and on disk once it is large.
  const database = new DatabaseSync('');
  database.exec(schema);
  const applyWebhook = createApply(database);
  return {
    apply: (event) => (isOfEndpoints(event) ? endpoints.apply(event) : applyWebhook(event)),
    ...createReads(database),
    disabledEndpoints: () => endpoints.disabled(),
    close: () => database.close(),
  };
}

function createApply(database: DatabaseSync): FailingRows['apply'] {
  const insertion = database.prepare(
    'INSERT OR IGNORE INTO webhooks (place, id, token, team, environment, rank, created_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const change = database.prepare('UPDATE webhooks SET rank = ?, changed_at = ? WHERE id = ?');
  const removal = database.prepare('DELETE FROM webhooks WHERE id = ?');
  const apply = ({ position: place, stream }: RecordedEvent, event: WebhookEvent): void => {
    const { id, at } = event.data;
    const token = tokenOfWebhookStream(stream);
    // One that was delivered and is replayed has no row any more: it is nobody's in the list, and a filter by team leaves it out.
    const set = (rank: number) => {
      if (change.run(rank, at, id).changes === 0) insertion.run(place, id, token, '', '', rank, at, at);
    };
    switch (event.type) {
      case 'WebhookDue': {
        const { team, environment } = event.data;
        insertion.run(place, id, token, team, environment, ranks.fresh, at, at);
        return;
      }
      case 'DeliveryFailed':
        set(ranks.retried);
        return;
      case 'DeliveryGivenUp':
        set(ranks.failed);
        return;
      case 'ReplayRequested':
        change.run(ranks.fresh, at, id);
        return;
      case 'Delivered':
        removal.run(id);
    }
  };
  return (event) => apply(event, decodeWebhookEvent(event));
}

function createReads(database: DatabaseSync): Omit<FailingRows, 'apply' | 'disabledEndpoints' | 'close'> {
  const removal = database.prepare('DELETE FROM webhooks WHERE changed_at < ? AND rank = 0');
  const one = database.prepare(`SELECT ${columns}, team, environment FROM webhooks WHERE id = ?`);

  function select(what: string, filter: FailingFilter, rest = '', values: readonly (string | number)[] = []) {
    const { status, owners, team, environment, createdFrom, createdBefore } = filter;
    const terms = [
      ['rank = ?', status === 'failed' ? ranks.failed : ranks.retried],
      [
        "environment || ' ' || team IN (SELECT value FROM json_each(?))",
        owners && JSON.stringify(owners.map(({ environment: at, team: of }) => `${at} ${of}`)),
      ],
      ['team = ?', team],
      ['environment = ?', environment],
      ['created_at >= ?', createdFrom],
      ['created_at < ?', createdBefore],
    ].flatMap(([sql, value]) => (value === undefined ? [] : [[String(sql), value] as const]));
    const where = terms.map(([sql]) => sql).join(' AND ');
    const statement = database.prepare(`SELECT ${what} FROM webhooks WHERE ${where} ${rest}`);
    return statement.all(...terms.map(([, value]) => value), ...values);
  }

  return {
    removeBefore: (changedAt) => void removal.run(changedAt),
    page: (filter, beforePlace, limit) =>
      (beforePlace === undefined
        ? select(columns, filter, 'ORDER BY place DESC LIMIT ?', [limit])
        : select(columns, filter, 'AND place < ? ORDER BY place DESC LIMIT ?', [beforePlace, limit])
      ).map(toRow),
    oldest: (filter, afterPlace, limit) =>
      select(columns, filter, 'AND place > ? ORDER BY place LIMIT ?', [afterPlace, limit]).map(toRow),
    find: (id) => {
      const row = one.get(id);
      return row && { ...toRow(row), team: String(row['team']), environment: String(row['environment']) };
    },
    count: (filter) => Number(select('count(*) AS count', filter)[0]?.['count']),
  };
}

const toRow = (row: Readonly<Record<string, unknown>>): FailingRow => ({
  ...{ id: String(row['id']), token: String(row['token']), place: String(row['place']) as Position },
});
