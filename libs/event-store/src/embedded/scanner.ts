/** Reads the events of some streams past a position, a bounded part of the file at once. */
import type { DatabaseSync } from 'node:sqlite';
import type { RecordedEvent } from '../event-store.ts';
import {
  type Look,
  eventColumns,
  look,
  lookEventsMax,
  prepareRows,
  translatingErrors,
} from './event-rows.ts';

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
    // Not the last one ever: a reader at the end of the file returns its last event.
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

/** The rows read, complete if the query had no more. */
const upTo = (end: number, { events, lastRowNumber, isEnd }: Look): Omit<Window, 'isEnd'> => ({
  events,
  scannedTo: isEnd ? end : (lastRowNumber ?? end),
});
