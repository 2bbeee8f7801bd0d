/**
 * The requests of the last days with their outcomes, for the team that sent them. Written in batches after the answers: no
 * request waits for it, and a killed process loses the last moment.
 */
import { openLocalFile, inTransaction } from '@tollgate/event-store';
import { type Clock, type Log, requestIdFrom, omitUndefined } from '@tollgate/service-kit';
import { createCreationPulse } from './creation-pulse.ts';
import type { RequestRecord } from './request-record.ts';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';

export type RequestLedger = ReturnType<typeof openRequestLedger>;

export interface RequestLedgerOptions {
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  keptMs: number;
  /** Maximum per team and environment; the oldest are deleted. */
  perTeamMax: number;
  clock: Pick<Clock, 'now' | 'after'>;
  log: Log;
}

/** Maximum wait of a record for others in its batch. */
const writeAfterMs = 200;
/** Maximum waiting records; more wait only if writing fails, and are dropped. */
const waitingMax = 10_000;
/** "TgRq" */
const applicationId = 0x54675271;
const trimEveryMs = 3_600_000;

/** @throws StartupError if the file belongs to another program */
export function openRequestLedger(options: RequestLedgerOptions) {
  const { file, keptMs, perTeamMax, clock, log } = options;
  const kept = openLocalFile({
    file,
    applicationId,
    schema: requestSchema,
    log,
    rowsOf: (database) => createRequestRows(database, perTeamMax),
  });
  const pulse = createCreationPulse(clock);
  let waiting: RequestRecord[] = [];
  let cancel: (() => void) | undefined;
  let trimmedAt = -Infinity;
  let isFailing = false;

  function write(): void {
    cancel?.();
    cancel = undefined;
    const [records, now] = [waiting, clock.now()];
    waiting = [];
    try {
      kept.use((rows) => rows.insert(records));
      isFailing = false;
      if (now - trimmedAt < trimEveryMs && now >= trimmedAt) return;
      trimmedAt = now;
      kept.use((rows) => rows.removeBefore(requestIdFrom(now - keptMs)));
    } catch (error) {
      // For example on a full disk: only the log has these requests.
      if (!isFailing) log.warn({ error, count: records.length }, 'requests cannot be recorded');
      isFailing = true;
    }
  }

  return {
    /** Stores it; never throws, and does not wait. */
    note(record: RequestRecord): void {
      pulse.note(record);
      if (waiting.length >= waitingMax) return;
      waiting.push(record);
      cancel ??= clock.after(writeAfterMs, write);
    },
    /** @throws file_not_openable (retryable); so does `list` */
    find(owner: RequestOwner, id: string): RequestRecord | undefined {
      write();
      return kept.use((rows) => rows.find(owner, id));
    },
    /** Latest first. */
    list(owner: RequestOwner, filter: RequestFilter): RequestPage {
      write();
      return kept.use((rows) => rows.list(owner, filter));
    },
    /** Durations of the creations of the last 24 hours, hour by hour. */
    creations: pulse.hours,
    close(): void {
      write();
      kept.close();
    },
  };
}

/** The owner; requests without an active key belong to no team, and no team's key finds them. */
export interface RequestOwner {
  environment: string;
  team: string;
}
const noOwner: RequestOwner = { environment: '', team: '' };

export interface RequestFilter {
  /** Only before this id. */
  before?: string | undefined;
  /** Not before this id. */
  from?: string | undefined;
  /** `409`, or `4xx`. */
  status?: string | undefined;
  errorCode?: string | undefined;
  keyId?: string | undefined;
  token?: string | undefined;
  perPage: number;
}

export interface RequestPage {
  records: RequestRecord[];
  /** Start of the next page; absent at the end. */
  next?: string;
}

/** Maximum rows visited per page, if a filter excludes most of them. */
const passedOverMax = 2_000;
/** Excess in hundredths before a team's oldest requests are deleted, so that not every write deletes. */
const slack = 1.05;

// Requests of one team are stored together, so that a page is one range and an insertion is at its end.
const requestSchema = `
  CREATE TABLE requests (
    environment TEXT NOT NULL, team TEXT NOT NULL, id TEXT NOT NULL,
    status INTEGER, error_code TEXT, key_id TEXT, token TEXT, record TEXT NOT NULL,
    PRIMARY KEY (environment, team, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX requests_by_token ON requests (environment, team, token, id) WHERE token IS NOT NULL;
`;

type Row = Record<string, SQLOutputValue>;

/** @throws what SQLite throws for a damaged file */
function createRequestRows(database: DatabaseSync, perTeamMax: number) {
  let counts = new Map<string, RequestOwner & { count: number }>();
  const keyOf = ({ environment, team }: RequestOwner) => `${environment} ${team}`;
  for (const row of database
    .prepare('SELECT environment, team, count(*) AS count FROM requests GROUP BY environment, team')
    .all()) {
    const owner = { environment: String(row['environment']), team: String(row['team']) };
    counts.set(keyOf(owner), { ...owner, count: Number(row['count']) });
  }
  const insertion = database.prepare('INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const one = database.prepare('SELECT record FROM requests WHERE environment = ? AND team = ? AND id = ?');

  function insertOne(record: RequestRecord): void {
    const { caller, id, status = null, errorCode = null, token = null } = record;
    const { environment, team } = caller ?? noOwner;
    const counted = counts.get(keyOf({ environment, team })) ?? { environment, team, count: 0 };
    counts.set(keyOf(counted), { ...counted, count: counted.count + 1 });
    insertion.run(
      ...[environment, team, id, status, errorCode, caller?.keyId ?? null, token, JSON.stringify(record)],
    );
  }

  /** The oldest of those over the limit. */
  function trim(): void {
    for (const [key, { environment, team, count }] of counts) {
      if (count <= perTeamMax * slack) continue;
      const sql = `DELETE FROM requests WHERE environment = ? AND team = ? AND id <= (
        SELECT id FROM requests WHERE environment = ? AND team = ? ORDER BY id LIMIT 1 OFFSET ?)`;
      const oldest = count - perTeamMax - 1;
      const { changes } = database.prepare(sql).run(environment, team, environment, team, oldest);
      counts.set(key, { environment, team, count: count - Number(changes) });
    }
  }

  return {
    insert(records: readonly RequestRecord[]): void {
      if (records.length === 0) return;
      const before = new Map(counts);
      try {
        inTransaction(database, () => {
          for (const record of records) insertOne(record);
          trim();
        });
      } catch (error) {
        // Counted as if they existed, they would displace others.
        counts = before;
        throw error;
      }
    },
    removeBefore(id: string): void {
      for (const [key, { environment, team, count }] of counts) {
        const sql = 'DELETE FROM requests WHERE environment = ? AND team = ? AND id < ?';
        const { changes } = database.prepare(sql).run(environment, team, id);
        counts.set(key, { environment, team, count: count - Number(changes) });
      }
    },
    find({ environment, team }: RequestOwner, id: string): RequestRecord | undefined {
      const row = one.get(environment, team, id);
      return row && toRecord(row);
    },
    list: (owner: RequestOwner, filter: RequestFilter) => readPage(database, owner, filter),
  };
}

function readPage(database: DatabaseSync, owner: RequestOwner, filter: RequestFilter): RequestPage {
  const { perPage, token, before = 'req_~', from = '' } = filter;
  const within = [owner.environment, owner.team, before, from];
  const ofToken = token === undefined ? '' : 'AND token = ?';
  const passed = `SELECT * FROM requests WHERE environment = ? AND team = ? AND id < ? AND id >= ? ${ofToken}
    ORDER BY id DESC LIMIT ${passedOverMax}`;
  const [conditions, values] = conditionsOf(filter);
  const sql = `SELECT * FROM (${passed}) WHERE ${conditions} ORDER BY id DESC LIMIT ?`;
  const tokens = token === undefined ? [] : [token];
  const found = database.prepare(sql).all(...within, ...tokens, ...values, perPage + 1);
  const records = found.slice(0, perPage).map(toRecord);
  if (found.length > perPage) return { records, ...omitUndefined({ next: records.at(-1)?.id }) };
  const last = database.prepare(`${passed} OFFSET ${passedOverMax - 1}`).get(...within, ...tokens);
  return { records, ...(last === undefined ? {} : { next: String(last['id']) }) };
}

function conditionsOf({ status, errorCode, keyId }: RequestFilter): [string, (string | number)[]] {
  const conditions: [string, ...(string | number)[]][] = [];
  if (status !== undefined) conditions.push(statusCondition(status));
  if (errorCode !== undefined) conditions.push(['error_code = ?', errorCode]);
  if (keyId !== undefined) conditions.push(['key_id = ?', keyId]);
  const texts = conditions.map(([text]) => text);
  return [texts.join(' AND ') || 'TRUE', conditions.flatMap(([, ...values]) => values)];
}

function statusCondition(status: string): [string, number, number] {
  const first = status.endsWith('xx') ? Number(status[0]) * 100 : Number(status);
  return ['status BETWEEN ? AND ?', first, status.endsWith('xx') ? first + 99 : first];
}

const toRecord = (row: Row): RequestRecord => JSON.parse(String(row['record'])) as RequestRecord;
