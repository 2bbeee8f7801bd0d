import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ReadOptions, RecordedEvent, Revision } from '../event-store.ts';
import {
  eventColumns,
  look,
  lookEventsMax,
  prepareRows,
  translatingErrors,
  type Look,
} from './event-rows.ts';
import { busyTimeoutMs } from './open-database.ts';

/** One for each set of prefixes that is subscribed to. */
const scannersMax = 64;

interface PageRequest {
  stream: string;
  /** The page begins with this revision, or with the next one in the direction of reading. */
  from: Revision;
  direction: 'forwards' | 'backwards';
  limit: number;
}

/** Reads the file on the calling thread. Readers of a write-ahead log are never blocked. */
export type Reader = ReturnType<typeof openReader>;

/** @param file a path, or a `file:` URL with SQLite's parameters */
export function openReader(file: string | URL) {
  const database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
  const dataVersion = database.prepare('PRAGMA data_version');
  const head = database.prepare('SELECT max(position) AS position FROM events');
  const pages = {
    forwards: prepareRows(database, pageSql('>= ? ORDER BY e.revision ASC')),
    backwards: prepareRows(database, pageSql('<= ? ORDER BY e.revision DESC')),
  };
  // A scanner has four statements: preparing them costs more than most of its reads.
  const scanners = new LRUCache<string, ReturnType<typeof createScanner>>({ max: scannersMax });
  return {
    /** The next events of a stream, in reading order. `isEnd`: no further event follows. */
    page: ({ stream, from, direction, limit }: PageRequest): { events: RecordedEvent[]; isEnd: boolean } =>
      look(pages[direction], [stream, from], Math.min(limit, lookEventsMax)),
    /** Returns the function that reads the events after a row number. */
    scanner(prefixes: readonly string[]): (after: number) => Window {
      const name = JSON.stringify(prefixes);
      const scanner = scanners.get(name) ?? createScanner(database, prefixes);
      scanners.set(name, scanner);
      return scanner;
    },
    /** Row number of the last event ever; 0 before the first. */
    head: (): number => translatingErrors(() => Number(head.get()?.['position'] ?? 0)),
    /** A number that changes with each commit to the file. */
    dataVersion: (): number => Number(dataVersion.get()?.['data_version']),
    close: (): void => database.close(),
  };
}

const pageSql = (range: string) => `
  SELECT ${eventColumns}
  FROM streams s JOIN events e ON e.stream_id = s.id
  WHERE s.name = ? AND e.revision ${range}`;

interface ReadRequest extends ReadOptions {
  stream: string;
  requireOpen: () => void;
}

/** @throws StoreUnavailable when the store is closed in the middle. */
export async function* readInPages(
  reader: Reader,
  { stream, direction = 'forwards', from, limit = Infinity, requireOpen }: ReadRequest,
): AsyncGenerator<RecordedEvent, void, void> {
  const step = direction === 'forwards' ? 1 : -1;
  let next = from ?? (direction === 'forwards' ? 0 : Number.MAX_SAFE_INTEGER);
  let remaining = limit;
  while (remaining > 0) {
    requireOpen();
    const { events, isEnd } = reader.page({ stream, from: next, direction, limit: remaining });
    yield* events;
    const last = events.at(-1);
    if (isEnd || last === undefined) return;
    remaining -= events.length;
    next = last.revision + step;
    await nextTurn();
  }
}

/** The result of one read after a position. */
export interface Window {
  /** Those of the wanted streams. */
  events: RecordedEvent[];
  /** Row number of the last event that was read, wanted or not. */
  scannedTo: number;
  /** Nothing was recorded after `scannedTo` when the read ended. */
  isEnd: boolean;
}

const windowSql = `
  SELECT count(*) AS count, max(position) AS end
  FROM (SELECT position FROM events WHERE position > ? ORDER BY position LIMIT ${lookEventsMax})`;

/** The cross join prevents SQLite from starting with the streams, which are far more than the events of a window. */
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

/** Names are printable ASCII: none with the prefix sorts after it with a DEL. */
const namedSql = `
  SELECT id, last_revision + 1 AS events FROM streams WHERE name >= ?1 AND name < ?1 || char(127) LIMIT ?2`;

/** Sorts positions, which an index contains, and not texts. */
const ofStreamsSql = `
  SELECT ${eventColumns}
  FROM (
      SELECT e.position
      FROM json_each(?3) wanted CROSS JOIN events e ON e.stream_id = wanted.value
      WHERE e.position > ?1 AND e.position <= ?2
      ORDER BY e.position LIMIT ${lookEventsMax}
    ) chosen
    CROSS JOIN events e ON e.position = chosen.position
    CROSS JOIN streams s ON s.id = e.stream_id
  ORDER BY e.position`;

/** Nearer than this to the head, reading everything costs nothing that would be noticed. */
const farEventsMin = 20 * lookEventsMax;
const rareStreamsMax = 1_000;
const rareEventsMax = 5_000;

/** Ids of the streams with these prefixes; undefined if there are many of them, or of their events. */
function createRareStreams(database: DatabaseSync, prefixes: readonly string[]): () => number[] | undefined {
  const selectNamed = database.prepare(namedSql);
  return () => {
    const found = new Map<number, number>();
    for (const prefix of prefixes)
      for (const { id, events } of selectNamed.all(prefix, rareStreamsMax + 1))
        found.set(Number(id), Number(events));
    const count = found.values().reduce((sum, events) => sum + events, 0);
    return found.size > rareStreamsMax || count > rareEventsMax ? undefined : [...found.keys()];
  };
}

/**
 * Reads window by window, and first finds the end of the window, so that a read over many unwanted events is bounded as well.
 * Far from the head, if few events are wanted, it searches only these: a starting reader must not visit a million payments to
 * find the one endpoint of a team. Events before the end of a read never change, except by trimming: positions are assigned in
 * the order of commits.
 */
export function createScanner(
  database: DatabaseSync,
  prefixes: readonly string[],
): (after: number) => Window {
  const selectLast = database.prepare('SELECT max(position) AS position FROM events');
  const selectWindow = database.prepare(windowSql);
  const selectWanted = prepareRows(database, wantedSql(prefixes.length));
  const selectOfStreams = prepareRows(database, ofStreamsSql);
  const rareStreams = createRareStreams(database, prefixes);
  let mayBeRare = true;
  const rareAfter = (after: number): Window | undefined => {
    const end = mayBeRare ? translatingErrors(() => Number(selectLast.get()?.['position'] ?? 0)) : after;
    if (end - after < farEventsMin) return undefined;
    const streams = translatingErrors(rareStreams);
    // Determined once: a large number stays large.
    mayBeRare = streams !== undefined;
    if (streams === undefined) return undefined;
    const found = look(selectOfStreams, [after, end, JSON.stringify(streams)], lookEventsMax);
    return { ...upTo(end, found), isEnd: found.isEnd };
  };
  return (after) => {
    const rare = rareAfter(after);
    if (rare !== undefined) return rare;
    const [window] = translatingErrors(() => selectWindow.all(after));
    const [count, end] = [Number(window?.['count']), Number(window?.['end'])];
    if (count === 0) return { events: [], scannedTo: after, isEnd: true };
    const found = look(selectWanted, [after, end, ...prefixes], lookEventsMax);
    return { ...upTo(end, found), isEnd: found.isEnd && count < lookEventsMax };
  };
}

/** The rows read. `scannedTo` is `end` if no further row matches. */
const upTo = (end: number, { events, lastRowNumber, isEnd }: Look): Omit<Window, 'isEnd'> => ({
  events,
  scannedTo: isEnd ? end : (lastRowNumber ?? end),
});
