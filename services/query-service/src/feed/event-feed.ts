/**
 * The events of each team in the order of the store, for those who read them over HTTP. It begins to follow the store when
 * somebody first asks, so that an installation in which nobody does has no work with it, and goes on from its file after a
 * restart. Who waits costs a timer and an entry in a list, however many others there are.
 */
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  createBatchAge,
  createFollower,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { type FeedEntry, type FeedFile, type FeedOwner, openFeedFile } from './feed-file.ts';
import { type OwnersOfStreams, createOwnersOfStreams } from './owners-of-streams.ts';

/** Written together at most. */
const batchMax = 500;

export interface EventFeedOptions {
  store: EventStore;
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  /** Of the streams whose events are published. */
  prefixes: readonly string[];
  clock: Clock;
  ids: Ids;
  log: Log;
}

export interface EventFeed {
  /** What there is of the owner after that position, as far as it is known here by now. */
  after(owner: FeedOwner, position: string, limit: number): readonly FeedEntry[];
  /** Every event up to there is known here. */
  position(): Position;
  /** False from the start, and from a failure on, until all that the store has by then is known here. */
  isComplete(): boolean;
  /** Resolves when there is something of the owner after that position, when the time is over, or when the signal is aborted. */
  changed(owner: FeedOwner, position: string, wait: { waitMs: number; signal: AbortSignal }): Promise<void>;
  /** Lets all go who wait, and ends. */
  stop(): Promise<void>;
}

/** @throws StartupError where the file is another program's */
export function createEventFeed(options: EventFeedOptions): EventFeed {
  const { store, file: path, clock, log } = options;
  let isComplete = false;
  let beginAgain: () => void = () => undefined;
  const file = openFeedFile(path, log, () => {
    isComplete = false;
    beginAgain();
  });
  const waiting = createWaiting(clock);
  const owners = createOwnersOfStreams(store);
  const ending = new AbortController();
  const caughtUp = () => void (isComplete = true);
  const follower = createFollower({ ...options, name: 'event-feed' }, async (signal, gotOn) => {
    const ended = new AbortController();
    beginAgain = () => ended.abort();
    const until = AbortSignal.any([signal, ended.signal]);
    try {
      await follow({ ...options, feed: file, owners, waiting, caughtUp }, until, gotOn);
    } finally {
      // Until the next pass has come to the end, there may be events that are not known here.
      isComplete = false;
    }
  });
  let running: Promise<void> | undefined;
  const begin = () => void (running ??= follower.run(ending.signal));
  return {
    after(owner, position, limit) {
      begin();
      return file.after(owner, position, limit);
    },
    position: () => file.progress().position,
    isComplete: () => isComplete,
    async changed(owner, position, { waitMs, signal }) {
      // It may have come between the page that had nothing and this.
      if (ending.signal.aborted || file.after(owner, position, 1).length > 0) return;
      await waiting.wait(owner, waitMs, AbortSignal.any([signal, ending.signal]));
    },
    async stop() {
      ending.abort();
      await running;
      file.close();
    },
  };
}

interface Following extends EventFeedOptions {
  feed: FeedFile;
  owners: OwnersOfStreams;
  waiting: Waiting;
  caughtUp: () => void;
}

async function follow(deps: Following, signal: AbortSignal, gotOn: () => void): Promise<void> {
  const { store, prefixes, feed, owners, waiting, caughtUp, clock } = deps;
  if (!(await isOfStore(store, feed))) feed.clear();
  const age = createBatchAge(clock);
  let { position: written, witness } = feed.progress();
  let batch: (FeedEntry & { owner: FeedOwner })[] = [];
  for await (const item of store.subscribe({ from: written, prefixes, signal })) {
    if (item.kind === 'event') {
      const owner = await owners.of(item);
      const { position, stream, revision } = item;
      witness = { position, stream, revision };
      if (owner !== undefined) batch.push({ owner, ...witness });
      if (batch.length < batchMax && !age.isDueWith()) continue;
    }
    feed.write(batch, written, { position: item.position, witness });
    written = item.position;
    for (const { owner } of batch) waiting.wake(owner);
    batch = [];
    if (item.kind === 'caught-up') caughtUp();
    age.restart();
    gotOn();
  }
}

/**
 * False for a store that was restored from a backup: it has not come as far, or has other events where these were. One that
 * has come further since, and has the last event that was followed, cannot be detected: docs/operator/operations.md says what
 * to delete.
 */
async function isOfStore(store: EventStore, feed: FeedFile): Promise<boolean> {
  const { position, witness } = feed.progress();
  if (position > (await store.head())) return false;
  return witness === undefined || (await readEvent(store, witness))?.position === witness.position;
}

/** Undefined where it is not there. */
export async function readEvent(
  store: Pick<EventStore, 'read'>,
  { stream, revision }: Pick<FeedEntry, 'stream' | 'revision'>,
): Promise<RecordedEvent | undefined> {
  for await (const event of store.read(stream, { from: revision, limit: 1 }))
    return event.revision === revision ? event : undefined;
  return undefined;
}

interface Waiting {
  wait(owner: FeedOwner, waitMs: number, signal: AbortSignal): Promise<void>;
  wake(owner: FeedOwner): void;
}

function createWaiting(clock: Pick<Clock, 'after'>): Waiting {
  const byOwner = new Map<string, Set<() => void>>();
  const keyOf = ({ environment, team }: FeedOwner) => `${environment} ${team}`;
  return {
    wait: (owner, waitMs, signal) =>
      new Promise((resolve) => {
        const key = keyOf(owner);
        const others = byOwner.get(key) ?? new Set();
        byOwner.set(key, others);
        const go = () => {
          others.delete(go);
          if (others.size === 0 && byOwner.get(key) === others) byOwner.delete(key);
          cancel();
          signal.removeEventListener('abort', go);
          resolve();
        };
        others.add(go);
        const cancel = clock.after(waitMs, go);
        if (signal.aborted) go();
        else signal.addEventListener('abort', go);
      }),
    wake(owner) {
      for (const go of [...(byOwner.get(keyOf(owner)) ?? [])]) go();
    },
  };
}
