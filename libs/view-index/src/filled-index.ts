/**
 * An index that one thread of a process fills and another one reads: both have the SQLite file open, and the reader waits for
 * nobody. The thread that fills it says how far it is, and changes for the other one what that one wants changed.
 */
import type { MessagePort } from 'node:worker_threads';
import { beginning, type EventStore, type Position } from '@tollgate/event-store';
import { firstInquiryAt, type InquiryDelays, type Postponed } from '@tollgate/payment-domain';
import { TollgateError, errorCode, isRetryable, type Clock, type Log } from '@tollgate/service-kit';
import { indexRebuilding, type IndexFile } from './index-file.ts';
import { createIndexFollower, type IndexBuilding, type IndexFollower } from './index-follower.ts';
import { isDamage, openIndexForReading } from './open-index-file.ts';
import { createPositionWatch, type PositionWatch } from './position-watch.ts';

interface Change {
  change: 'postpone';
  postponed: readonly Postponed[];
}

type ToFiller = ({ kind: 'change'; id: number } & Change) | { kind: 'damaged' };

interface FillState {
  /** Another one whenever another file is in its place; undefined while there is none. */
  file: number | undefined;
  /** How far the file has come, in the file itself: another one that is there by now has not. */
  followed: Position;
  /** It has come to the end of the views once. */
  wasCaughtUp: boolean;
  isComplete: boolean;
  setAside: readonly string[];
  building: IndexBuilding | undefined;
  source: Position;
}

type FromFiller =
  | ({ kind: 'state' } & FillState)
  | { kind: 'changed'; id: number }
  | { kind: 'failed'; id: number; code: string; retryable: boolean };

/** Per transaction: the larger, the less is written for each, and nobody waits on this thread. */
const batchEventsMaxDefault = 500;

interface FillOptions {
  /** Path of the SQLite file. */
  file: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  delays: InquiryDelays;
  /** To the thread that reads. */
  reader: MessagePort;
  /** The most views per transaction; 500 by default. */
  batchEventsMax?: number;
}

/**
 * Opens the file and follows the views until it is stopped.
 *
 * @throws StartupError if the file cannot be used
 */
export function fillIndex(options: FillOptions): { stop(): Promise<void> } {
  const { file: path, store, log, clock, delays, reader } = options;
  const { batchEventsMax = batchEventsMaxDefault } = options;
  const stopping = new AbortController();
  const watch = createPositionWatch(clock);
  const follower = createIndexFollower({
    ...{ path, store, log, clock, watch, batchEventsMax, onChange: tell },
    dueAt: (item) => firstInquiryAt(item, clock.now(), delays),
  });
  const files = createNumbers();
  let wasCaughtUp = false;
  const post = (message: FromFiller): void => reader.postMessage(message);

  function tell(): void {
    post({
      kind: 'state',
      file: files.of(follower.file()),
      followed: followedIn(follower.file()),
      wasCaughtUp,
      isComplete: follower.isComplete(),
      setAside: follower.setAside(),
      building: follower.building(),
      source: watch.current(),
    });
  }

  async function change(wanted: Change & { id: number }): Promise<void> {
    const { id } = wanted;
    try {
      await follower.postpone(wanted.postponed);
      post({ kind: 'changed', id });
    } catch (error) {
      post({ kind: 'failed', id, code: errorCode(error) ?? 'index_failed', retryable: isRetryable(error) });
    }
  }

  follower.open();
  reader.on('message', (message: ToFiller) => {
    if (message.kind === 'damaged')
      return follower.rebuildSoon(new TollgateError('index_damaged', 'A read found damage.'));
    void change(message);
  });
  const following = follower.follow(stopping.signal, () => {
    if (wasCaughtUp) return;
    wasCaughtUp = true;
    tell();
  });
  return {
    async stop() {
      stopping.abort();
      await following;
      follower.close();
      reader.close();
    },
  };
}

/** The beginning also where the file cannot be read: those who read the rest find that out. */
function followedIn(file: IndexFile | undefined): Position {
  try {
    return file?.progress().followed ?? beginning;
  } catch {
    return beginning;
  }
}

/** Gives each file a number of its own. */
function createNumbers() {
  let last: IndexFile | undefined;
  let number = 0;
  return {
    of(file: IndexFile | undefined): number | undefined {
      if (file !== undefined && file !== last) number += 1;
      last = file ?? last;
      return file && number;
    },
  };
}

interface ReaderOptions {
  path: string;
  filler: MessagePort;
  /** Moves with what the filler says. */
  watch: PositionWatch;
  log: Log;
}

/** The thread that fills it, as who reads sees it. */
export function followFilled({ path, filler, watch, log }: ReaderOptions): IndexFollower {
  let state: FillState | undefined;
  let opened: { number: number; file: IndexFile } | undefined;
  /** The number of the file that was found to be damaged last. */
  let damaged: number | undefined;
  const post = (message: ToFiller): void => filler.postMessage(message);
  const changes = createChanges(post);

  function close(): void {
    opened?.file.close();
    opened = undefined;
  }

  /** Of a file that was whole when it was opened to be filled, nobody else may find out; once for each. */
  function tellDamaged(error: unknown, number: number): void {
    if (damaged === number) return;
    damaged = number;
    log.error({ error, operation: 'read-index' }, 'the index is damaged; it is rebuilt');
    post({ kind: 'damaged' });
  }

  function file(): IndexFile | undefined {
    if (state?.file === opened?.number) return opened?.file;
    close();
    if (state?.file === undefined) return undefined;
    try {
      const found = openIndexForReading(path);
      if (followedIn(found) >= state.followed) opened = { number: state.file, file: found };
      else found.close();
    } catch (error) {
      if (isDamage(error)) tellDamaged(error, state.file);
      else log.warn({ error, operation: 'read-index' }, 'the index cannot be read now');
      return undefined;
    }
    return opened?.file;
  }

  function take(next: FillState, onCaughtUp: () => void): void {
    // What the filler said before it heard of the damage is of a file that may be another one by now.
    state = next.file === damaged ? { ...next, isComplete: false } : next;
    if (next.source < watch.current()) watch.reset(next.source);
    else watch.moveTo(next.source);
    if (next.wasCaughtUp) onCaughtUp();
  }

  return {
    file,
    isComplete: () => state?.isComplete === true,
    setAside: () => state?.setAside ?? [],
    building: () => (state === undefined ? notBegun : state.building),
    rebuildSoon(error) {
      if (state?.file !== undefined) tellDamaged(error, state.file);
      if (state !== undefined) state = { ...state, isComplete: false };
      close();
    },
    postpone: (postponed) => changes.ask({ change: 'postpone', postponed }),
    open: () => undefined,
    async follow(signal, onCaughtUp) {
      const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
      filler.on('message', (message: FromFiller) => {
        if (message.kind === 'state') take(message, onCaughtUp);
        else changes.settle(message);
      });
      filler.on('close', () => end(undefined));
      signal.addEventListener('abort', () => end(undefined));
      if (!signal.aborted) await ended;
      changes.end();
      filler.close();
    },
    close,
  };
}

/** What is asked of the filler, until it has answered. */
function createChanges(post: (message: ToFiller) => void) {
  const underWay = new Map<number, PromiseWithResolvers<undefined>>();
  let count = 0;
  let hasEnded = false;
  return {
    ask(wanted: Change): Promise<void> {
      if (hasEnded) return Promise.reject(indexRebuilding());
      const id = (count += 1);
      const done = Promise.withResolvers<undefined>();
      underWay.set(id, done);
      post({ kind: 'change', id, ...wanted });
      return done.promise.finally(() => underWay.delete(id));
    },
    settle(answer: Exclude<FromFiller, { kind: 'state' }>): void {
      const waiting = underWay.get(answer.id);
      if (answer.kind === 'changed') waiting?.resolve(undefined);
      else waiting?.reject(toError(answer));
    },
    /** Whatever is not done by now is done by nobody. */
    end(): void {
      hasEnded = true;
      for (const waiting of underWay.values()) waiting.reject(indexRebuilding());
    },
  };
}

const notBegun: IndexBuilding = { followed: '' as Position, views: 0 };

const toError = ({ code, retryable }: { code: string; retryable: boolean }): TollgateError =>
  new TollgateError(code, 'The index could not be changed.', { retryable });
