import type { DatabaseSync } from 'node:sqlite';
import type { Revision } from '../event-store.ts';
import type { AppendOperation, Operation, OperationResult, TruncateOperation } from './writer-protocol.ts';

interface StreamRow {
  id: number;
  lastRevision: Revision;
  keepLast: number | null;
}

/**
 * Returns the function that executes a batch in one transaction. When it returns, all of it is durable; when it throws, nothing
 * of it was written. Each append is checked before it writes, so a conflict needs no savepoint.
 *
 * The write lock is taken before any read, by every process that writes the file: so the order of positions is the order of
 * commits, and a reader that has seen one position has seen all before it.
 */
export function createBatchCommit(
  database: DatabaseSync,
): (operations: readonly Operation[]) => OperationResult[] {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const append = createAppend(database);
  const truncate = createTruncate(database);
  const carryOut = (operation: Operation): OperationResult =>
    operation.kind === 'append' ? append(operation) : truncate(operation);
  return (operations) => {
    begin.run();
    try {
      const results = operations.map(carryOut);
      commit.run();
      return results;
    } catch (error) {
      // After a full disk SQLite has rolled back already, and a second ROLLBACK would throw.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
}

function createAppend(database: DatabaseSync): (operation: AppendOperation) => OperationResult {
  const streams = createStreams(database);
  const trim = createTrim(database);
  const findRepeat = createFindRepeat(database);
  const insertEvent = database.prepare(
    'INSERT INTO events (stream_id, revision, event_id, type, recorded_at, metadata, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );

  const insert = (stream: StreamRow, operation: AppendOperation): OperationResult => {
    const { events, recordedAt, keepLast = stream.keepLast } = operation;
    let revision = stream.lastRevision;
    let rowNumber = 0;
    for (const { id, type, metadata, data } of events) {
      revision += 1;
      const inserted = insertEvent.run(stream.id, revision, id, type, recordedAt, metadata, data);
      rowNumber = Number(inserted.lastInsertRowid);
    }
    streams.setLastRevision(stream.id, revision);
    if (keepLast !== stream.keepLast) streams.setKeepLast(stream.id, keepLast);
    if (keepLast !== null) trim(stream.id, revision, keepLast);
    return { kind: 'appended', revision, rowNumber };
  };

  return (operation) => {
    const stream = streams.find(operation.stream);
    const actual = stream?.lastRevision ?? -1;
    const expected = toLastRevision(operation.expected, actual);
    if (expected === actual) return insert(stream ?? streams.create(operation.stream), operation);
    const repeat = stream === undefined ? undefined : findRepeat(stream.id, expected, operation);
    return repeat ?? { kind: 'conflict', actual: actual === -1 ? 'no-stream' : actual };
  };
}

function toLastRevision(expected: AppendOperation['expected'], actual: Revision): Revision {
  if (expected === 'any') return actual;
  return expected === 'no-stream' ? -1 : expected;
}

/** Finds the first answer of an append that was carried out before, and is still there whole. */
function createFindRepeat(database: DatabaseSync) {
  const select = database.prepare(
    'SELECT event_id, position FROM events WHERE stream_id = ? AND revision > ? AND revision <= ? ORDER BY revision',
  );
  return (streamId: number, expected: Revision, { events }: AppendOperation): OperationResult | undefined => {
    const revision = expected + events.length;
    const found = select.all(streamId, expected, revision);
    const isRepeat = events.every(({ id }, index) => found[index]?.['event_id'] === id);
    return isRepeat
      ? { kind: 'appended', revision, rowNumber: Number(found.at(-1)?.['position']) }
      : undefined;
  };
}

function createTruncate(database: DatabaseSync): (operation: TruncateOperation) => OperationResult {
  const streams = createStreams(database);
  const trim = createTrim(database);
  return ({ stream: name, before }) => {
    const stream = streams.find(name);
    if (stream !== undefined)
      trim(stream.id, stream.lastRevision, Math.max(1, stream.lastRevision - before + 1));
    return { kind: 'truncated' };
  };
}

function createTrim(database: DatabaseSync) {
  const remove = database.prepare('DELETE FROM events WHERE stream_id = ? AND revision <= ?');
  return (streamId: number, lastRevision: Revision, keepLast: number) => {
    if (lastRevision >= keepLast) remove.run(streamId, lastRevision - keepLast);
  };
}

function createStreams(database: DatabaseSync) {
  const select = database.prepare(
    'SELECT id, last_revision AS lastRevision, keep_last AS keepLast FROM streams WHERE name = ?',
  );
  const insert = database.prepare('INSERT INTO streams (name) VALUES (?)');
  const update = database.prepare('UPDATE streams SET last_revision = ? WHERE id = ?');
  const updateKeepLast = database.prepare('UPDATE streams SET keep_last = ? WHERE id = ?');
  return {
    find: (name: string) => select.get(name) as StreamRow | undefined,
    create: (name: string): StreamRow => ({
      id: Number(insert.run(name).lastInsertRowid),
      lastRevision: -1,
      keepLast: null,
    }),
    setLastRevision: (id: number, lastRevision: Revision) => update.run(lastRevision, id),
    setKeepLast: (id: number, count: number | null) => updateKeepLast.run(count, id),
  };
}
