/**
 * The webhooks of all teams by outcome and receiver: small rows that lead to the streams, in a local file. A `callbackUrl` is
 * the endpoint of one payment or payout.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  type EventStore,
  type LocalProjection,
  type Position,
  type RecordedEvent,
  openLocalProjection,
  projectionRebuilding,
} from '@tollgate/event-store';
import type { DeliveryStatus } from '@tollgate/gateway-api/http';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import {
  type WebhookEvent,
  decodeWebhookEvent,
  endpointOfQueue,
  queueOfStream,
  webhookStreamPrefix,
} from './webhook-events.ts';

/** Maximum listed delivered webhooks per team and environment; undelivered ones are all listed. */
const deliveredMax = 10_000;
/** Old rows are deleted once per this many changes. */
const removeEvery = 1_000;
/** Maximum wait of a read for earlier events. @unit milliseconds */
const waitMs = 2_000;

/** In the order in which they are listed. */
const ranks = { failed: 0, retrying: 1, fresh: 2, delivered: 3 } as const;
const ranksOf: Readonly<Record<DeliveryStatus, readonly number[]>> = {
  failed: [ranks.failed],
  retrying: [ranks.retrying],
  open: [ranks.retrying, ranks.fresh],
  delivered: [ranks.delivered],
};

interface WebhookOwner {
  team: string;
  environment: string;
}

export interface DeliveryRow extends WebhookOwner {
  id: string;
  /** Queue of the webhook: {@link queueOfStream}. */
  queue: string;
  /** The standing endpoint; empty for a `callbackUrl`. */
  endpoint: string;
  rank: number;
  /** Position of the first event: the same in every process, so that a cursor is valid at any of them. */
  place: Position;
}

/** A place in a cursor; undefined for any other text. */
export const parsePlace = (text: string): Position | undefined =>
  /^[\d-]{16,41}$/.test(text) ? (text as Position) : undefined;

export interface DeliveryFilter {
  /** Owners whose webhooks the reader may see; undefined: all. */
  owners: readonly WebhookOwner[] | undefined;
  team?: string | undefined;
  environment?: string | undefined;
  id?: string | undefined;
  endpoint?: string | undefined;
  status?: DeliveryStatus | undefined;
  /** Milliseconds since the Unix epoch. */
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}

type DeliveryRows = ReturnType<typeof createRows>;

export type Deliveries = ReturnType<typeof openDeliveries>;

export interface DeliveriesOptions {
  store: EventStore;
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** How long webhooks are kept after their last attempt. @unit milliseconds */
  retentionMs: number;
}

/** Follows the webhooks until it is stopped. @throws StartupError for a file of another program */
export function openDeliveries(options: DeliveriesOptions) {
  const { clock, log, retentionMs } = options;
  const projection: LocalProjection<DeliveryRows> = openLocalProjection({
    ...options,
    name: 'webhook-deliveries',
    applicationId: 0x54675764,
    schema,
    prefixes: [webhookStreamPrefix],
    rowsOf: (database) => createRows(database, () => clock.now() - retentionMs),
    apply: (rows, events) => {
      for (const event of events)
        try {
          rows.apply(event);
        } catch (error) {
          if (error instanceof Error && 'errcode' in error) throw error;
          log.error({ error, stream: event.stream }, 'a webhook cannot be read; it is not listed');
        }
    },
  });
  const ending = new AbortController();
  const following = projection.follow(ending.signal);
  async function read<Result>(work: (rows: DeliveryRows) => Result): Promise<Result> {
    if (!(await projection.waitForNow(waitMs))) throw projectionRebuilding();
    return projection.use(work);
  }
  return {
    /** Includes everything recorded before the call. @throws `index_rebuilding` if that takes too long */
    read,
    /** The open queues, and the position to follow from. @throws as `read` */
    open: () => read((rows) => ({ queues: rows.openQueues(), position: projection.state().position })),
    async stop(): Promise<void> {
      ending.abort();
      await following;
      projection.close();
    },
  };
}

const schema = `
  CREATE TABLE webhooks (
    place TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, endpoint TEXT NOT NULL,
    team TEXT NOT NULL, environment TEXT NOT NULL,
    rank INTEGER NOT NULL, created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX by_rank ON webhooks (rank, place DESC);
  CREATE INDEX by_owner ON webhooks (team, environment, rank, place DESC);
`;
/** The table is strict, so a column has its declared type. */
const columns = 'id, queue, endpoint, team, environment, rank, place';

const createRows = (database: DatabaseSync, settledBefore: () => number) => ({
  apply: createApply(database, settledBefore),
  ...createReads(database),
});

function createApply(database: DatabaseSync, settledBefore: () => number): (event: RecordedEvent) => void {
  const insertion = database.prepare('INSERT OR IGNORE INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const change = database.prepare('UPDATE webhooks SET rank = ?, changed_at = ? WHERE id = ?');
  // A webhook that another process delivered meanwhile stays delivered.
  const givingUp = database.prepare(
    'UPDATE webhooks SET rank = 0, changed_at = ? WHERE id = ? AND rank <> 3',
  );
  const removal = database.prepare('DELETE FROM webhooks WHERE changed_at < ? AND rank IN (0, 3)');
  const trimming = database.prepare(`DELETE FROM webhooks WHERE place IN (
    SELECT place FROM (
      SELECT place, row_number() OVER (PARTITION BY team, environment ORDER BY place DESC) AS number
      FROM webhooks WHERE rank = 3
    ) WHERE number > ${deliveredMax})`);
  let changes = 0;

  function applyDecoded({ position, stream }: RecordedEvent, event: WebhookEvent): void {
    const { id, at } = event.data;
    switch (event.type) {
      case 'WebhookDue': {
        const { team, environment, endpoint = '' } = event.data;
        const queue = queueOfStream(stream);
        insertion.run(position, id, queue, endpoint, team, environment, ranks.fresh, at, at);
        return;
      }
      case 'DeliveryFailed':
        // Without a next attempt it is abandoned by the next event.
        if (event.data.nextAt !== undefined) change.run(ranks.retrying, at, id);
        return;
      case 'Delivered':
        change.run(ranks.delivered, at, id);
        return;
      case 'DeliveryGivenUp':
        givingUp.run(at, id);
        return;
      case 'ReplayRequested': {
        if (change.run(ranks.fresh, at, id).changes > 0) return;
        // A delivered one that is no longer listed is still sent, even after a restart.
        const queue = queueOfStream(stream);
        const endpoint = endpointOfQueue(queue) ?? '';
        insertion.run(position, id, queue, endpoint, '', '', ranks.fresh, at, at);
      }
    }
  }

  return (event) => {
    applyDecoded(event, decodeWebhookEvent(event));
    changes += 1;
    if (changes % removeEvery !== 0) return;
    removal.run(settledBefore());
    trimming.run();
  };
}

function createReads(database: DatabaseSync) {
  const one = database.prepare(`SELECT ${columns} FROM webhooks WHERE id = ?`);

  function select<Shape = DeliveryRow>(
    what: string,
    filter: DeliveryFilter,
    rest = '',
    values: readonly (string | number)[] = [],
  ) {
    const { owners, team, environment, id, endpoint, status, createdFrom, createdBefore } = filter;
    const names = owners?.map((owner) => `${owner.environment} ${owner.team}`);
    const terms = [
      ["environment || ' ' || team IN (SELECT value FROM json_each(?))", names && JSON.stringify(names)],
      ['rank IN (SELECT value FROM json_each(?))', status && JSON.stringify(ranksOf[status])],
      ['team = ?', team],
      ['environment = ?', environment],
      ['id = ?', id],
      ['endpoint = ?', endpoint],
      ['created_at >= ?', createdFrom],
      ['created_at < ?', createdBefore],
    ].flatMap(([sql, value]) => (value === undefined ? [] : [[String(sql), value] as const]));
    const where = terms.map(([sql]) => sql).join(' AND ') || 'TRUE';
    const statement = database.prepare(`SELECT ${what} FROM webhooks WHERE ${where} ${rest}`);
    return statement.all(...terms.map(([, value]) => value), ...values) as Shape[];
  }

  return {
    /** Failed ones first, latest first, after the last row of the page before. */
    page(
      filter: DeliveryFilter,
      after: Pick<DeliveryRow, 'rank' | 'place'> | undefined,
      limit: number,
    ): DeliveryRow[] {
      const rest = 'ORDER BY rank, place DESC LIMIT ?';
      if (after === undefined) return select(columns, filter, rest, [limit]);
      const values = [after.rank, after.rank, after.place, limit];
      return select(columns, filter, `AND (rank > ? OR rank = ? AND place < ?) ${rest}`, values);
    },
    oldestFirst: (filter: DeliveryFilter, after: Position, limit: number): DeliveryRow[] =>
      select(columns, filter, 'AND place > ? ORDER BY place LIMIT ?', [after, limit]),
    find: (id: string) => one.get(id) as DeliveryRow | undefined,
    /** Queues with an open webhook, in the order in which they were opened. */
    openQueues: (): string[] =>
      database
        .prepare('SELECT queue FROM webhooks WHERE rank IN (1, 2) GROUP BY queue ORDER BY min(place)')
        .all()
        .map((row) => String(row['queue'])),
    count: (filter: DeliveryFilter): number =>
      select<{ count: number }>('count(*) AS count', filter)[0]?.count ?? 0,
  };
}
