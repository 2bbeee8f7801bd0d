import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { RecordedEvent, Revision } from '../event-store.ts';
import { busyTimeoutMs } from './open-database.ts';
import { toPosition } from './position.ts';
import { sqliteCodeOf } from './sqlite-error.ts';
import { fromSqliteCode } from './store-failure.ts';

/** One read of the file blocks the event loop, so it ends after this many events, or this much text. */
const lookEventsMax = 500;
const lookBytesMax = 1_048_576;

interface PageRequest {
  stream: string;
  /** The page begins with this revision, or with the next one in the direction of reading. */
  from: Revision;
  direction: 'forwards' | 'backwards';
  limit: number;
}

/** What one read past a position has found. */
export interface Window {
  /** Those of the wanted streams. */
  events: RecordedEvent[];
  /** Row number of the last event that was read, wanted or not. */
  scannedTo: number;
  /** Nothing was recorded after `scannedTo` when the read ended. */
  isEnd: boolean;
}

interface Scanned extends Window {
  /** Length of the texts of each event. */
  sizes: number[];
}

/** Reads the file on the calling thread. Readers of a write-ahead log wait for nobody. */
export interface Reader {
  /** The next events of a stream, in the order of reading. `isEnd`: the stream has no more of them. */
  page(request: PageRequest): { events: RecordedEvent[]; isEnd: boolean };
  /** Returns the function that reads the events after a row number, and tells how much text each had. */
  scanner(prefixes: readonly string[]): (after: number) => Scanned;
  /** Row number of the last event that there ever was; 0 before the first. */
  head(): number;
  /** A number that changes with each commit to the file. */
  dataVersion(): number;
  close(): void;
}

/** As an array, which costs less to make than an object by the names of the columns. */
type EventRow = [
  rowNumber: number,
  stream: string,
  revision: Revision,
  id: string,
  type: string,
  recordedAt: number,
  metadata: string,
  data: string,
];

/** @param file a path, or a `file:` URL with SQLite's parameters */
export function openReader(file: string | URL): Reader {
  const database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
  const dataVersion = database.prepare('PRAGMA data_version');
  // The last event may have been trimmed since.
  const head = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const pages = {
    forwards: prepareRows(database, pageSql('>= ? ORDER BY e.revision ASC')),
    backwards: prepareRows(database, pageSql('<= ? ORDER BY e.revision DESC')),
  };
  return {
    page: ({ stream, from, direction, limit }) =>
      look(pages[direction], [stream, from], Math.min(limit, lookEventsMax)),
    scanner: (prefixes) => createScanner(database, prefixes),
    head: () => translatingErrors(() => Number(head.get()?.['seq'] ?? 0)),
    dataVersion: () => Number(dataVersion.get()?.['data_version']),
    close: () => database.close(),
  };
}

const eventColumns = `
  e.position, s.name, e.revision, e.event_id, e.type, e.recorded_at, e.metadata, e.data`;

function prepareRows(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

const pageSql = (range: string) => `
  SELECT ${eventColumns}
  FROM streams s JOIN events e ON e.stream_id = s.id
  WHERE s.name = ? AND e.revision ${range}`;

const windowSql = `
  SELECT count(*) AS count, max(position) AS end
  FROM (SELECT position FROM events WHERE position > ? ORDER BY position LIMIT ${lookEventsMax})`;

/** The cross join keeps SQLite from starting with the streams, of which there are many more than events in a window. */
const wantedSql = (prefixCount: number) => `
  SELECT ${eventColumns}
  FROM events e CROSS JOIN streams s ON s.id = e.stream_id
  WHERE e.position > ?1 AND e.position <= ?2 AND (${wantedCondition(prefixCount)})
  ORDER BY e.position`;

function wantedCondition(prefixCount: number): string {
  const numbers = Array.from({ length: prefixCount }, (_, index) => index + 3);
  return (
    numbers.map((number) => `substr(s.name, 1, length(?${number})) = ?${number}`).join(' OR ') || 'FALSE'
  );
}

/**
 * First finds where the window ends, so that a read over many unwanted events is bounded as well. What lies before that
 * end cannot change any more, but for events that are trimmed: positions are given in the order of commits.
 */
function createScanner(database: DatabaseSync, prefixes: readonly string[]): (after: number) => Scanned {
  const selectWindow = database.prepare(windowSql);
  const selectWanted = prepareRows(database, wantedSql(prefixes.length));
  return (after) => {
    const [window] = translatingErrors(() => selectWindow.all(after));
    const [count, end] = [Number(window?.['count']), Number(window?.['end'])];
    if (count === 0) return { events: [], sizes: [], scannedTo: after, isEnd: true };
    const { events, sizes, lastRowNumber, isEnd } = look(
      selectWanted,
      [after, end, ...prefixes],
      lookEventsMax,
    );
    const scannedTo = isEnd ? end : (lastRowNumber ?? end);
    return { events, sizes, scannedTo, isEnd: isEnd && count < lookEventsMax };
  };
}

interface Look {
  events: RecordedEvent[];
  sizes: number[];
  lastRowNumber: number | undefined;
  /** The query has no more rows. */
  isEnd: boolean;
}

/** Runs a query until it ends, or until a limit is reached. @throws StoreUnavailable */
function look(statement: StatementSync, parameters: SQLInputValue[], rowsMax: number): Look {
  return translatingErrors(() => {
    const events: RecordedEvent[] = [];
    const sizes: number[] = [];
    let lastRowNumber: number | undefined;
    let bytes = 0;
    for (const each of statement.iterate(...parameters)) {
      const [rowNumber, stream, revision, id, type, recordedAt, metadata, data] = each as unknown as EventRow;
      events.push({
        kind: 'event',
        stream,
        revision,
        position: toPosition(rowNumber),
        id,
        type,
        data: toValue(data),
        metadata: toValue(metadata),
        recordedAt,
      });
      lastRowNumber = rowNumber;
      sizes.push(data.length + metadata.length);
      bytes += data.length + metadata.length;
      if (events.length >= rowsMax || bytes >= lookBytesMax)
        return { events, sizes, lastRowNumber, isEnd: false };
    }
    return { events, sizes, lastRowNumber, isEnd: true };
  });
}

/** What is not JSON is delivered as text, as by the other store: one damaged event must not end what reads all of them. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function translatingErrors<Result>(query: () => Result): Result {
  try {
    return query();
  } catch (error) {
    const sqliteCode = sqliteCodeOf(error);
    throw sqliteCode === undefined ? error : fromSqliteCode(sqliteCode, error);
  }
}
