/** Opens a copy of an embedded store read-only, without changing any file. */
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type Log, TollgateError, silentLog } from '@tollgate/service-kit';
import { StoreUnavailable } from '../errors.ts';
import type { EventStore } from '../event-store.ts';
import { fromOpeningError, requireOwnFile } from './open-database.ts';
import { openReader } from './reader.ts';
import { createReads } from './reads.ts';
import {
  StartRefused,
  primaryCode,
  sqliteCodeOf,
  sqliteCorrupt,
  sqliteNotADatabase,
} from './sqlite-error.ts';

export interface CopyCheck {
  streams: number;
  events: number;
  /** Faults, a sentence each, at most 100; do not read such a copy further. */
  findings: string[];
}

const findingsMax = 100;

/** Prevents SQLite from creating its own files next to a copy with a write-ahead log. */
function immutable(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return url;
}

/**
 * Checks the whole file: pages and indexes, that all events are JSON, and that no stream has a gap.
 *
 * @param truncated prefixes of the streams whose beginning is truncated (`truncate`); the file does not contain them
 * @throws TollgateError for a file that is not an event store of this format
 */
export function checkEmbeddedCopy(file: string, truncated: readonly string[] = []): CopyCheck {
  try {
    const database = new DatabaseSync(immutable(file), { readOnly: true });
    try {
      requireOwnFile(database, file);
      return checkWhole(database, truncated);
    } finally {
      database.close();
    }
  } catch (error) {
    const damage = damageOf(error);
    if (damage !== undefined) return { streams: 0, events: 0, findings: [`SQLite: ${damage}.`] };
    const refusal = fromOpeningError(error, file);
    throw refusal instanceof StartRefused ? new TollgateError(refusal.code, refusal.message) : refusal;
  }
}

function damageOf(error: unknown): string | undefined {
  const code = primaryCode(sqliteCodeOf(error));
  const isDamage = code === sqliteCorrupt || code === sqliteNotADatabase;
  return isDamage && error instanceof Error ? error.message : undefined;
}

function checkWhole(database: DatabaseSync, truncated: readonly string[]): CopyCheck {
  const all = (sql: string, ...given: string[]) => database.prepare(sql).all(...given);
  const damage = all(`PRAGMA integrity_check(${findingsMax})`)
    .map((row) => String(row['integrity_check']))
    .filter((finding) => finding !== 'ok');
  // In a damaged file the results of other queries are meaningless.
  const findings =
    damage.length > 0
      ? damage.map((each) => `SQLite: ${each}.`)
      : [
          ...sentencesOf(all(gaps, JSON.stringify(truncated))),
          ...queries.flatMap((sql) => sentencesOf(all(sql))),
        ];
  const [streams] = all('SELECT count(*) AS count FROM streams');
  const [events] = all('SELECT count(*) AS count FROM events');
  return {
    streams: Number(streams?.['count']),
    events: Number(events?.['count']),
    findings: findings.slice(0, findingsMax),
  };
}

const sentencesOf = (rows: Record<string, unknown>[]): string[] =>
  rows.map((row) => `${String(row['stream'])}: ${String(row['finding'])}.`);

/** A stream ends with its last revision, begins with 0 unless its beginning is released, and has all between them. */
const gaps = `
  SELECT name AS stream,
    'it has ' || count || ' events from revision ' || coalesce(first, 'none') || ' on, and ends with revision ' || last_revision AS finding
  FROM (
    SELECT s.name, s.last_revision, s.keep_last,
      EXISTS (SELECT 1 FROM json_each(?) WHERE substr(s.name, 1, length(value)) = value) AS mayBeginLater, count(e.position) AS count, min(e.revision) AS first, max(e.revision) AS last
    FROM streams s LEFT JOIN events e ON e.stream_id = s.id GROUP BY s.id
  )
  WHERE CASE
    WHEN last_revision = -1 THEN count > 0
    WHEN count = 0 THEN TRUE
    ELSE last <> last_revision OR count <> last - first + 1 OR (keep_last IS NULL AND first <> 0 AND NOT mayBeginLater)
  END
  LIMIT ${findingsMax}`;

const queries = [
  `SELECT 'event ' || position AS stream, 'it is of no stream' AS finding
   FROM events e WHERE NOT EXISTS (SELECT 1 FROM streams s WHERE s.id = e.stream_id) LIMIT ${findingsMax}`,
  `SELECT s.name AS stream, 'the event ' || e.revision || ' is no JSON' AS finding
   FROM events e JOIN streams s ON s.id = e.stream_id
   WHERE NOT json_valid(e.data) OR NOT json_valid(e.metadata) LIMIT ${findingsMax}`,
  `SELECT s.name AS stream, 'the event ' || b.revision || ' is stored before its predecessor' AS finding
   FROM events b JOIN events a ON a.stream_id = b.stream_id AND a.revision = b.revision - 1 JOIN streams s ON s.id = b.stream_id
   WHERE b.position < a.position LIMIT ${findingsMax}`,
];

/**
 * Reads only: appends and `truncate` are refused with `store_read_only`. For a file that `checkEmbeddedCopy`
 * finds nothing in: a subscription tries again indefinitely if a page cannot be read.
 */
export function openEmbeddedCopy(file: string, log: Log = silentLog): EventStore {
  const reader = openReader(immutable(file));
  const { closing, head, read, subscribe } = createReads(reader, log);
  return {
    append: refuse,
    truncate: refuse,
    head,
    read,
    subscribe,
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort();
      reader.close();
    },
  };
}

async function refuse(): Promise<never> {
  throw new StoreUnavailable('store_read_only', 'A copy of an event store is read-only.', {
    retryable: false,
  });
}
