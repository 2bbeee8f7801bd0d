import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { requireReadOptions } from '../append-arguments.ts';
import type { ReadOptions, RecordedEvent, Revision } from '../event-store.ts';
import { eventColumns, look, lookEventsMax, prepareRows, translatingErrors } from './event-rows.ts';
import { busyTimeoutMs } from './open-database.ts';
import { type Window, createScanner } from './scanner.ts';

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
  // The last event may have been trimmed since.
  const head = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
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
    head: (): number => translatingErrors(() => Number(head.get()?.['seq'] ?? 0)),
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
  requireReadOptions(stream, { from, limit });
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
