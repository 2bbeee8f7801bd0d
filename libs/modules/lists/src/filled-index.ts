/**
 * An index that one thread of a process fills and another one reads. Both have the SQLite file open. The filling thread posts
 * its state, and makes the changes that the other requests.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import {
  beginning,
  createWaiting,
  isDamage,
  openLocalFileForReading,
  positionInFile,
  projectionRebuilding,
  type EventStore,
  type ProjectionState,
} from '@tollgate/event-store';
import { firstInquiryAt, type InquiryDelays, type Postponed } from '@tollgate/core';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { openFollowedIndex, type FollowedIndex } from './followed-index.ts';
import { createIndexFile, type IndexFile } from './index-file.ts';

type ToFiller =
  { kind: 'postpone'; id: number; postponed: readonly Postponed[] } | { kind: 'damaged'; generation: number };

type FromFiller =
  { kind: 'state'; state: ProjectionState } | { kind: 'postponed'; id: number; isDone: boolean };

interface FillOptions {
  /** Path of the SQLite file. */
  file: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  ids: Ids;
  delays: InquiryDelays;
  /** To the reading thread. */
  reader: MessagePort;
  /** Maximum events per transaction: no request waits on this thread. @default 500 */
  batchEventsMax?: number;
}

/**
 * Opens the file and follows the events until it is stopped.
 *
 * @throws StartupError `file_foreign` for a file of another program
 */
export function fillIndex({ reader, delays, ...options }: FillOptions): { stop(): Promise<void> } {
  const { clock, log, batchEventsMax = 500 } = options;
  const stopping = new AbortController();
  const post = (message: FromFiller): void => reader.postMessage(message);
  const index = openFollowedIndex({
    ...options,
    batchEventsMax,
    dueAt: (item) => firstInquiryAt(item, clock.now(), delays),
    onChange: () => post({ kind: 'state', state: index.state() }),
  });

  reader.on('message', (message: ToFiller) => {
    if (message.kind === 'postpone') postpone(message);
    else if (message.generation === index.state().generation) index.rebuild();
  });

  function postpone({ id, postponed }: ToFiller & { kind: 'postpone' }): void {
    let isDone = true;
    try {
      index.use((file) => file.postpone(postponed));
    } catch (error) {
      log.warn({ error, count: postponed.length }, 'inquiries could not be postponed; they are repeated');
      isDone = false;
    }
    post({ kind: 'postponed', id, isDone });
  }

  const following = index.follow(stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await following;
      index.close();
      reader.close();
    },
  };
}

interface ReaderOptions {
  file: string;
  filler: MessagePort;
  clock: Clock;
  log: Log;
  onChange: () => void;
}

const notBegun: ProjectionState = {
  generation: 0,
  position: beginning,
  applied: beginning,
  isComplete: false,
  isCaughtUp: false,
  head: beginning,
  events: 0,
  differences: 0,
};

/** The index filled by another thread, for the reading thread. */
export function followFilled({ file: path, filler, clock, log, onChange }: ReaderOptions): FollowedIndex {
  const waiting = createWaiting(clock);
  let state = notBegun;
  let opened: { generation: number; database: DatabaseSync; file: IndexFile } | undefined;
  /** The generation of the latest damaged file. */
  let damaged: number | undefined;
  const post = (message: ToFiller): void => filler.postMessage(message);
  /** Postponements that the filler has not confirmed. */
  const unconfirmed = new Map<number, (isDone: boolean) => void>();
  let postponements = 0;
  let hasEnded = false;

  function close(): void {
    opened?.database.close();
    opened = undefined;
  }

  /** @throws `index_rebuilding` if there is no file, or another than that of the state; for damage, SQLite's error */
  function open(): IndexFile {
    if (opened !== undefined && opened.generation === state.generation) return opened.file;
    close();
    if (state.generation === 0) throw projectionRebuilding();
    let database: DatabaseSync | undefined;
    try {
      database = openLocalFileForReading(path);
      if (positionInFile(database) < state.applied) throw projectionRebuilding();
      opened = { generation: state.generation, database, file: createIndexFile(database, { log }) };
      return opened.file;
    } catch (error) {
      database?.close();
      throw isDamage(error) ? error : projectionRebuilding(error);
    }
  }

  /** Once per file: concurrent reads find the same damage. */
  function reportDamage(error: unknown): void {
    close();
    if (damaged === state.generation) return;
    damaged = state.generation;
    log.error({ error, operation: 'read-index' }, 'the index is damaged; it is rebuilt');
    post({ kind: 'damaged', generation: damaged });
    take(state);
  }

  function take(next: ProjectionState): void {
    // The filler may not know of the damage yet.
    state = next.generation === damaged ? { ...next, isComplete: false } : next;
    waiting.wake();
    onChange();
  }

  return {
    use(work) {
      try {
        return work(open());
      } catch (error) {
        if (!isDamage(error)) throw error;
        reportDamage(error);
        throw projectionRebuilding(error);
      }
    },
    state: () => state,
    waitFor: (position, timeoutMs) => waiting.until(() => state.position >= position, timeoutMs),
    postpone: (postponed) =>
      new Promise((resolve, reject) => {
        if (hasEnded) return reject(projectionRebuilding());
        const id = (postponements += 1);
        unconfirmed.set(id, (isDone) => (isDone ? resolve() : reject(projectionRebuilding())));
        post({ kind: 'postpone', id, postponed });
      }),
    async follow(signal) {
      const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
      filler.on('message', (message: FromFiller) => {
        if (message.kind === 'state') take(message.state);
        else {
          unconfirmed.get(message.id)?.(message.isDone);
          unconfirmed.delete(message.id);
        }
      });
      filler.on('close', () => end(undefined));
      signal.addEventListener('abort', () => end(undefined));
      if (!signal.aborted) await ended;
      hasEnded = true;
      for (const settle of unconfirmed.values()) settle(false);
      waiting.end();
      filler.close();
    },
    close,
  };
}
