/** Events as rows of the file. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { InvalidArgument } from '../errors.ts';
import { beginning, type Position, type RecordedEvent, type Revision } from '../event-store.ts';
import { sqliteCodeOf } from './sqlite-error.ts';
import { fromSqliteCode } from './store-failure.ts';

// 16 digits hold every safe integer, so positions sort as text.
const positionDigits = 16;
const positionPattern = /^\d{16}$/;

/** Writes the number of a row, from 1, as a position. */
export function toPosition(rowNumber: number): Position {
  return rowNumber === 0 ? beginning : (rowNumber.toString().padStart(positionDigits, '0') as Position);
}

/**
 * Reads the row number of a position; 0 is the beginning.
 *
 * @throws InvalidArgument if another kind of store wrote the position
 */
export function fromPosition(position: Position): number {
  if (position === beginning) return 0;
  if (!positionPattern.test(position)) {
    throw new InvalidArgument('position_invalid', 'The position was not written by an embedded event store.');
  }
  return Number(position);
}

/** One read of the file blocks the event loop, so it ends after this many events, or this much text. */
export const lookEventsMax = 500;
const lookBytesMax = 1_048_576;

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

export const eventColumns = `
  e.position, s.name, e.revision, e.event_id, e.type, e.recorded_at, e.metadata, e.data`;

export function prepareRows(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** The result of a query. */
export interface Look {
  events: RecordedEvent[];
  lastRowNumber: number | undefined;
  isEnd: boolean;
}

/** Runs a query until it ends, or until a limit is reached. @throws StoreUnavailable */
export function look(statement: StatementSync, parameters: SQLInputValue[], rowsMax: number): Look {
  return translatingErrors(() => {
    const events: RecordedEvent[] = [];
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
      bytes += data.length + metadata.length;
      if (events.length >= rowsMax || bytes >= lookBytesMax) return { events, lastRowNumber, isEnd: false };
    }
    return { events, lastRowNumber, isEnd: true };
  });
}

/** Data that is not JSON is delivered as text, as by the other store: one damaged event must not stop readers of all events. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @throws StoreUnavailable for an error of SQLite's */
export function translatingErrors<Result>(query: () => Result): Result {
  try {
    return query();
  } catch (error) {
    const sqliteCode = sqliteCodeOf(error);
    throw sqliteCode === undefined ? error : fromSqliteCode(sqliteCode, error);
  }
}
