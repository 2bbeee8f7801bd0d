/**
 * Where the events of each team are, in the order of the store, for readers over HTTP. Following begins with the first
 * request, so that an installation without readers has no work with it.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  openLocalProjection,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { checkpointStream } from '@tollgate/views';
import { type KnownOwner, ownerAfter } from './owners-of-streams.ts';

export interface FeedOwner {
  environment: string;
  team: string;
}

/** An event of a team. */
export interface FeedEntry {
  position: Position;
  stream: string;
  revision: number;
}

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
  /** The next events of the owner that the file has. @throws TollgateError, retryable, while it is damaged */
  after(owner: FeedOwner, position: string, limit: number): readonly FeedEntry[];
  /** Every event at or before it is in the file. */
  position(): Position;
  /** False from the start, and after a failure, until the end of the store is reached. */
  isComplete(): boolean;
  /** Resolves when the owner has a later event, after `waitMs`, or when the signal is aborted. */
  changed(owner: FeedOwner, position: string, wait: { waitMs: number; signal: AbortSignal }): Promise<void>;
  /** Ends all waits. */
  stop(): Promise<void>;
}

/** "TgFd" */
const applicationId = 0x54674664;

const schema = `
  CREATE TABLE owners (stream TEXT PRIMARY KEY, environment TEXT NOT NULL, team TEXT) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    environment TEXT NOT NULL, team TEXT NOT NULL, position TEXT NOT NULL, stream TEXT NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (environment, team, position)
  ) STRICT, WITHOUT ROWID;
`;

/** @throws StartupError `file_foreign` for a file of another program */
export function createEventFeed(options: EventFeedOptions): EventFeed {
  const waiting = createWaiting(options.clock);
  const feed = openLocalProjection({
    ...options,
    name: 'event-feed',
    applicationId,
    schema,
    comparedWith: checkpointStream,
    batchEventsMax: 500,
    rowsOf: createFeedRows,
    apply: (rows, events) => {
      for (const event of events) rows.apply(event);
    },
    onChange: (applied) => {
      for (const stream of new Set(applied.map((event) => event.stream)))
        waiting.wake(feed.use((rows) => rows.ownerOf(stream)));
    },
  });
  const ending = new AbortController();
  let running: Promise<void> | undefined;
  return {
    after(owner, position, limit) {
      running ??= feed.follow(ending.signal);
      return feed.use((rows) => rows.after(owner, position, limit));
    },
    position: () => feed.state().position,
    isComplete: () => feed.state().isCaughtUp,
    async changed(owner, position, { waitMs, signal }) {
      // It may have been applied since the page that did not have it.
      if (ending.signal.aborted || feed.use((rows) => rows.after(owner, position, 1)).length > 0) return;
      await waiting.wait(owner, waitMs, AbortSignal.any([signal, ending.signal]));
    },
    async stop() {
      ending.abort();
      await running;
      feed.close();
    },
  };
}

function createFeedRows(database: DatabaseSync) {
  const findOwner = database.prepare('SELECT environment, team FROM owners WHERE stream = ?');
  const setOwner = database.prepare('INSERT OR REPLACE INTO owners VALUES (?, ?, ?)');
  const insert = database.prepare('INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?)');
  const page = database.prepare(`SELECT position, stream, revision FROM events
    WHERE environment = ? AND team = ? AND position > ? ORDER BY position LIMIT ?`);

  function ownerOf(stream: string): KnownOwner | undefined {
    const row = findOwner.get(stream);
    if (row === undefined) return undefined;
    const team = row['team'] === null ? undefined : String(row['team']);
    return { environment: String(row['environment']), team };
  }

  return {
    ownerOf,
    apply(event: RecordedEvent): void {
      const { stream, revision, position } = event;
      const before = ownerOf(stream);
      const owner = ownerAfter(before, event);
      if (owner === undefined) return;
      if (owner.team !== before?.team || before === undefined)
        setOwner.run(stream, owner.environment, owner.team ?? null);
      if (owner.team !== undefined) insert.run(owner.environment, owner.team, position, stream, revision);
    },
    after: ({ environment, team }: FeedOwner, position: string, limit: number): FeedEntry[] =>
      page.all(environment, team, position, limit).map((row) => ({
        position: String(row['position']) as Position,
        stream: String(row['stream']),
        revision: Number(row['revision']),
      })),
  };
}

function createWaiting(clock: Pick<Clock, 'after'>) {
  const byOwner = new Map<string, Set<() => void>>();
  const keyOf = ({ environment, team }: KnownOwner) => `${environment} ${team}`;
  return {
    wait: (owner: FeedOwner, waitMs: number, signal: AbortSignal): Promise<void> =>
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
    wake(owner: KnownOwner | undefined): void {
      if (owner !== undefined) for (const go of [...(byOwner.get(keyOf(owner)) ?? [])]) go();
    },
  };
}
