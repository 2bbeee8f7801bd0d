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
import { TollgateError, errorCode, isRetryable, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { openFollowedIndex, type FollowedIndex } from './followed-index.ts';
import { createIndexFile, type IndexFile } from './index-file.ts';

interface Change {
  change: 'postpone';
  postponed: readonly Postponed[];
}

type ToFiller = ({ kind: 'change'; id: number } & Change) | { kind: 'damaged'; generation: number };

type Answer =
  { kind: 'changed'; id: number } | { kind: 'failed'; id: number; code: string; retryable: boolean };
type FromFiller = { kind: 'state'; state: ProjectionState } | Answer;

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
  const { clock, batchEventsMax = 500 } = options;
  const stopping = new AbortController();
  const post = (message: FromFiller): void => reader.postMessage(message);
  const index = openFollowedIndex({
    ...options,
    batchEventsMax,
    dueAt: (item) => firstInquiryAt(item, clock.now(), delays),
    onChange: () => post({ kind: 'state', state: index.state() }),
  });

  async function change(wanted: Change & { id: number }): Promise<void> {
    const { id } = wanted;
    try {
      await index.postpone(wanted.postponed);
      post({ kind: 'changed', id });
    } catch (error) {
      post({ kind: 'failed', id, code: errorCode(error) ?? 'index_failed', retryable: isRetryable(error) });
    }
  }

  reader.on('message', (message: ToFiller) => {
    if (message.kind === 'change') return void change(message);
    if (message.generation === index.state().generation) index.rebuild();
  });
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
  const changes = createChanges(post);

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
    postpone: (postponed) => changes.ask({ change: 'postpone', postponed }),
    async follow(signal) {
      const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
      filler.on('message', (message: FromFiller) => {
        if (message.kind === 'state') take(message.state);
        else changes.settle(message);
      });
      filler.on('close', () => end(undefined));
      signal.addEventListener('abort', () => end(undefined));
      if (!signal.aborted) await ended;
      changes.end();
      waiting.end();
      filler.close();
    },
    close,
  };
}

/** Unanswered requests to the filler. */
function createChanges(post: (message: ToFiller) => void) {
  const underWay = new Map<number, PromiseWithResolvers<undefined>>();
  let count = 0;
  let hasEnded = false;
  return {
    ask(wanted: Change): Promise<void> {
      if (hasEnded) return Promise.reject(projectionRebuilding());
      const id = (count += 1);
      const done = Promise.withResolvers<undefined>();
      underWay.set(id, done);
      post({ kind: 'change', id, ...wanted });
      return done.promise.finally(() => underWay.delete(id));
    },
    settle(answer: Answer): void {
      const asked = underWay.get(answer.id);
      if (answer.kind === 'changed') asked?.resolve(undefined);
      else
        asked?.reject(
          new TollgateError(answer.code, 'The index could not be changed.', { retryable: answer.retryable }),
        );
    },
    end(): void {
      hasEnded = true;
      for (const asked of underWay.values()) asked.reject(projectionRebuilding());
    },
  };
}
