import type { MessagePort, Worker } from 'node:worker_threads';
import {
  InvariantViolation,
  StartupError,
  silentLog,
  systemClock,
  type Clock,
  type Log,
  errorCode,
} from '@tollgate/service-kit';
import { serializeAppend } from '../append-arguments.ts';
import type { StoreUnavailable } from '../errors.ts';
import type { Appended, Conflict, EventStore } from '../event-store.ts';
import { createSharedSubscription } from '../shared-subscription.ts';
import { type GroupCommit, joinGroupCommit, startGroupCommit } from './group-commit.ts';
import { fromOpeningError } from './open-database.ts';
import { toPosition } from './event-rows.ts';
import { openReader, type Reader } from './reader.ts';
import { createReads } from './reads.ts';
import { StartRefused } from './sqlite-error.ts';
import type { OperationResult } from './writer-protocol.ts';

export interface EmbeddedEventStoreOptions {
  /** The SQLite file; created if missing, in an existing directory. Use a local disk. */
  file: string;
  /** Stamps `recordedAt`; the system's clock by default. */
  clock?: Clock;
  log?: Log;
  /**
   * Called when the writer thread has died: no append can succeed, and the process should end and be restarted. Without it the
   * appends report the failure.
   */
  onWriterStopped?: (error: StoreUnavailable) => void;
  /** Of the store that another thread of this process has open on this file: both write by one thread, that one first. */
  connection?: MessagePort;
  /** Nothing outside this package's specs sets these. */
  testing?: {
    /** The file may grow to this many pages of 4 KiB, then it is as if the disk were full. */
    pageCountMax?: number;
    /** Receives the writer thread, to end it. */
    onWorker?: (worker: Worker) => void;
  };
}

export type EmbeddedEventStore = Awaited<ReturnType<typeof createEmbeddedEventStore>>;

/**
 * Opens an event store in one SQLite file. Several stores and processes may use one file at the same time.
 *
 * A repeated append is recognized while its events exist: if `keepLast` has trimmed one of them, the repeat is answered with a
 * `Conflict`.
 *
 * @throws StartupError if the file cannot be used
 */
export async function createEmbeddedEventStore(options: EmbeddedEventStoreOptions) {
  const { file, clock = systemClock, log = silentLog, onWriterStopped, connection, testing = {} } = options;
  let closed: Promise<void> | undefined;
  const onCommit = () => commits.announce();
  const watchers = { onCommit, onWriterStopped };
  const writer =
    connection === undefined
      ? await startGroupCommit({ file, ...testing, ...watchers })
      : joinGroupCommit(connection, watchers);
  const reader = await openReaderBeside(writer, file);
  const reads = createReads(reader, log);
  const { commits, closing } = reads;
  const room = watchDiskRoom(clock);
  const subscribe = createSharedSubscription(reads.subscribe, { log, closing: closing.signal });

  // Close the writer last: only it can move the write-ahead log into the file.
  const closeInOrder = async () => {
    await writer.drain();
    reader.close();
    await writer.close();
  };

  const store: EventStore = {
    append: async (stream, events, expected, { keepLast } = {}) => {
      const { events: serialized, bytes } = serializeAppend(stream, events);
      const recordedAt = Math.trunc(clock.now());
      const given = { stream, events: serialized, expected, recordedAt, keepLast };
      return toAnswer(await room.noting(writer.submit({ kind: 'append', ...given }, bytes)));
    },
    truncate: async (stream, before) => {
      await writer.submit({ kind: 'truncate', stream, before }, 0);
    },
    head: reads.head,
    read: reads.read,
    subscribe: (given) => subscribe({ ...given, signal: AbortSignal.any([given.signal, closing.signal]) }),
    close: () => {
      closing.abort();
      return (closed ??= closeInOrder());
    },
  };
  return {
    ...store,
    /** Lets another thread open a store on the same file; transfer it there. Close that store first. */
    connection: writer.connection,
    /** False while its disk is full: nothing can be recorded then. */
    isReachable: room.isThere,
  };
}

async function openReaderBeside(writer: GroupCommit, file: string): Promise<Reader> {
  try {
    return openReader(file);
  } catch (error) {
    await writer.close();
    const refusal = fromOpeningError(error, file);
    throw refusal instanceof StartRefused ? new StartupError(refusal.code, refusal.message) : refusal;
  }
}

function toAnswer(result: OperationResult): Appended | Conflict {
  if (result.kind === 'truncated')
    throw new InvariantViolation('The writer returned an unexpected answer to an append.');
  if (result.kind === 'conflict') return result;
  return { kind: 'appended', revision: result.revision, position: toPosition(result.rowNumber) };
}

/**
 * How long a refusal counts: longer than the interval between heartbeats of a living process, which are appends. Not forever,
 * since a process that is not ready gets nothing to append. @unit milliseconds
 */
export const refusalCountsMs = 10_000;

/** Derives from the appends whether the disk has room. */
export function watchDiskRoom(clock: Pick<Clock, 'monotonic'>) {
  let refusedAt: number | undefined;
  return {
    /** False after an append failed recently because the disk is full, and none has succeeded since. */
    isThere: (): boolean => refusedAt === undefined || clock.monotonic() - refusedAt > refusalCountsMs,
    /** Observes the result of an append, and returns it. */
    async noting<Result>(append: Promise<Result>): Promise<Result> {
      try {
        const result = await append;
        refusedAt = undefined;
        return result;
      } catch (error) {
        if (errorCode(error) === 'store_full') refusedAt = clock.monotonic();
        throw error;
      }
    },
  };
}
