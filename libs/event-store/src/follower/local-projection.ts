/**
 * A local file that follows the event store: open it, follow, answer from it. Damage, another version, another store and a
 * lost event all end the same way: the file is rebuilt from zero.
 */
import type { DatabaseSync } from 'node:sqlite';
import { TollgateError, type Clock, type Ids } from '@tollgate/service-kit';
import { type EventStore, type Position, type RecordedEvent, beginning } from '../event-store.ts';
import { createWaiting } from '../waits.ts';
import { createBatchAge, isContinued, restAfter } from './batch-age.ts';
import {
  type CountComparison,
  type Counted,
  type EventCounts,
  createCountComparison,
  createEventCounts,
} from './event-counts.ts';
import { lastEventAfter } from './events-until-now.ts';
import { createFollower } from './follow.ts';
import {
  type LocalFile,
  type LocalFileOptions,
  inTransaction,
  isOfVersion,
  openLocalFile,
  openLocalFileForReading,
} from './local-file.ts';

export interface LocalProjectionOptions<Rows> extends Omit<LocalFileOptions<Rows>, 'onRecreated'> {
  /** Of the follower, in logs and metrics. */
  name: string;
  store: Pick<EventStore, 'append' | 'head' | 'read' | 'subscribe'>;
  /** Of the streams that are followed. */
  prefixes: readonly string[];
  /** The checkpoint stream of another follower, whose counts are compared with our own. */
  comparedWith?: string;
  clock: Clock;
  ids: Ids;
  /** The most events in one transaction: each blocks the event loop for some milliseconds. @default 20 */
  batchEventsMax?: number;
  /** Called in the transaction that also moves the position. */
  apply: (rows: Rows, events: readonly RecordedEvent[]) => void;
  /** Called before each pass over the events, with the file of that pass. */
  beforePass?: (use: <Result>(work: (rows: Rows) => Result) => Result) => Promise<void>;
  /** Called after each change of `state()`, and with the events that were applied. */
  onChange?: (applied: readonly RecordedEvent[]) => void;
}

export interface ProjectionState {
  /** Grows when the file is replaced by an empty one. */
  generation: number;
  /** Every event of the followed streams at or before it is applied. */
  position: Position;
  /** Of the last event in the file. */
  applied: Position;
  /** False until the file has reached the end of the store once. */
  isComplete: boolean;
  /** False also after a failure, until the end of the store is reached again. */
  isCaughtUp: boolean;
  /** End of the store when the following began. */
  head: Position;
  /** Applied since the following began. */
  events: number;
  /** Comparisons with another follower that found another count. */
  differences: number;
}

export type LocalProjection<Rows> = ReturnType<typeof openLocalProjection<Rows>>;

export const projectionRebuilding = (cause?: unknown): TollgateError =>
  new TollgateError('index_rebuilding', 'The read model is being rebuilt.', { retryable: true, cause });

interface Progress extends Counted {
  /** The last event that was applied: a store that has another one there is another store. */
  witness?: Pick<RecordedEvent, 'stream' | 'revision' | 'position'>;
}

/** Of a file that nothing whole is read from yet, larger transactions are worth it. */
const buildingBatchMax = 100;

const progressSchema =
  'CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL) STRICT;';

interface Opened<Rows> {
  database: DatabaseSync;
  rows: Rows;
  progress: ReturnType<typeof progressIn>;
}

interface Parts<Rows> extends LocalProjectionOptions<Rows> {
  localFile: LocalFile<Opened<Rows>>;
  state: Omit<ProjectionState, 'generation'>;
  waiting: ReturnType<typeof createWaiting>;
  /** The pass that is under way. */
  current: { end: () => void };
  compare: CountComparison;
  onChange: (applied: readonly RecordedEvent[]) => void;
}

const nothingApplied = {
  position: beginning,
  applied: beginning,
  isComplete: false,
  isCaughtUp: false,
  events: 0,
};

/** @throws StartupError `file_foreign` for a file of another program */
export function openLocalProjection<Rows>(options: LocalProjectionOptions<Rows>) {
  const { clock, onChange = () => undefined } = options;
  const state: Parts<Rows>['state'] = { ...nothingApplied, head: beginning, differences: 0 };
  const waiting = createWaiting(clock);
  const current = { end: () => {} };
  const localFile = openLocalFile<Opened<Rows>>({
    ...options,
    schema: `${progressSchema} ${options.schema}`,
    rowsOf: (database) => ({ database, rows: options.rowsOf(database), progress: progressIn(database) }),
    onRecreated: () => {
      Object.assign(state, nothingApplied);
      current.end();
      onChange([]);
    },
  });
  const compare = createCountComparison(options);
  const parts = { ...options, localFile, state, waiting, current, compare, onChange };
  const follower = createFollower({ ...options, longestPauseMs: 2_000 }, (signal, gotOn) =>
    followOnce(parts, signal, gotOn),
  );
  return {
    /**
     * Reads or writes the file.
     *
     * @throws TollgateError `index_rebuilding` (retryable) when the work finds damage; `file_not_openable` (retryable)
     */
    use: <Result>(work: (rows: Rows) => Result): Result => inFile(localFile, ({ rows }) => work(rows)),
    state: (): ProjectionState => ({ ...state, generation: localFile.generation() }),
    /** Follows until the signal is aborted, through failures of the store and of the file. Never rejects. */
    follow: (signal: AbortSignal): Promise<void> => follower.run(signal).finally(waiting.end),
    /** False after `timeoutMs`, or when the following ends. */
    waitFor: (position: Position, timeoutMs: number): Promise<boolean> =>
      waiting.until(() => state.position >= position, timeoutMs),
    /** As `waitFor`, for everything that was recorded before the call. @throws StoreUnavailable */
    async waitForNow(timeoutMs: number): Promise<boolean> {
      const last = await lastEventAfter(options, state.position);
      return waiting.until(() => state.position >= last, timeoutMs);
    },
    /** Replaces the file by an empty one and follows from zero. */
    rebuild: localFile.recreate,
    close: localFile.close,
  };
}

/** @throws `index_rebuilding` if the work finds damage: it is not repeated with the empty file that replaces this one */
function inFile<Rows, Result>(
  localFile: LocalFile<Opened<Rows>>,
  work: (opened: Opened<Rows>) => Result,
): Result {
  const generation = localFile.generation();
  return localFile.use((opened) => {
    if (localFile.generation() !== generation) throw projectionRebuilding();
    return work(opened);
  });
}

/** One pass over the events, until the signal is aborted, the file is replaced, or something fails. */
async function followOnce<Rows>(parts: Parts<Rows>, signal: AbortSignal, gotOn: () => void): Promise<void> {
  const { store, prefixes, comparedWith, clock, batchEventsMax = 20 } = parts;
  const { localFile, state, waiting, current, onChange } = parts;
  const ending = new AbortController();
  current.end = () => ending.abort();
  state.isCaughtUp = false;
  const progress = await progressInStore(parts);
  // After a failure the reached position still holds, except in a store that was restored to an earlier state.
  const reached = state.position <= state.head ? state.position : beginning;
  state.applied = progress.position;
  state.position = reached > progress.position ? reached : progress.position;
  onChange([]);
  await parts.beforePass?.((work) => {
    ending.signal.throwIfAborted();
    return inFile(localFile, ({ rows }) => work(rows));
  });
  const counts = createEventCounts(prefixes, progress);
  const age = createBatchAge(clock);
  let batch: RecordedEvent[] = [];
  let appliedSinceRest = 0;
  let checkpoint: RecordedEvent | undefined;
  const followed = comparedWith === undefined ? prefixes : [...prefixes, comparedWith];
  const until = AbortSignal.any([signal, ending.signal]);
  for await (const item of store.subscribe({ from: progress.position, prefixes: followed, signal: until })) {
    if (item.kind === 'event' && item.stream === comparedWith) {
      checkpoint = item;
      continue;
    }
    if (item.kind === 'event') {
      batch.push(item);
      // A partial append would be visible as if it were complete.
      const most = state.isComplete ? batchEventsMax : Math.max(batchEventsMax, buildingBatchMax);
      if (isContinued(item) || (batch.length < most && !age.isDueWith())) continue;
    }
    if (until.aborted) return;
    write(parts, counts, batch);
    const applied = batch;
    batch = [];
    age.restart();
    // Not for events missed while it was stopped.
    if (state.isCaughtUp) appliedSinceRest += applied.length;
    state.position = item.position;
    if (item.kind === 'caught-up') Object.assign(state, { isCaughtUp: true, isComplete: true });
    waiting.wake();
    onChange(applied);
    gotOn();
    if (item.kind === 'event') continue;
    const compared = await parts.compare(counts, checkpoint);
    if (compared !== 'same') state.differences += 1;
    if (compared === 'rebuild') localFile.recreate();
    checkpoint = undefined;
    await restAfter(appliedSinceRest, { clock, signal: until });
    appliedSinceRest = 0;
    age.restart();
  }
}

/** How far the file is in this store; one of another store is replaced. @throws StoreUnavailable */
async function progressInStore<Rows>(parts: Parts<Rows>): Promise<Progress> {
  const { store, state, localFile, log, name, file } = parts;
  state.head = await store.head();
  const read = () => localFile.use(({ progress }) => progress.read());
  const found = read();
  const { position, witness } = found;
  if (position <= state.head && (witness === undefined || (await isThere(store, witness)))) return found;
  log.warn({ operation: name }, `${file} belongs to another event store; it is rebuilt`);
  localFile.recreate();
  return read();
}

function write<Rows>(
  { localFile, state, apply }: Parts<Rows>,
  counts: EventCounts,
  events: readonly RecordedEvent[],
): void {
  const last = events.at(-1);
  if (last === undefined) return;
  inFile(localFile, ({ database, rows, progress }) =>
    inTransaction(database, () => {
      apply(rows, events);
      for (const event of events) counts.add(event);
      const { stream, revision, position } = last;
      progress.write({ position, counts: counts.current(), witness: { stream, revision, position } });
    }),
  );
  state.events += events.length;
  state.applied = last.position;
}

function progressIn(database: DatabaseSync) {
  const found = database.prepare('SELECT value FROM progress');
  const set = database.prepare('INSERT OR REPLACE INTO progress (id, value) VALUES (1, ?)');
  return {
    read(): Progress {
      const row = found.get();
      if (row === undefined) return { position: beginning, counts: {} };
      return JSON.parse(String(row['value'])) as Progress;
    },
    write: (progress: Progress) => void set.run(JSON.stringify(progress)),
  };
}

/** Progress of a file, read by another thread than its writer. */
export const positionInFile = (database: DatabaseSync): Position => progressIn(database).read().position;

/**
 * Opens a file that another process may write, to read it. Undefined: another version wrote it, or it follows another store.
 *
 * @throws what SQLite throws; StoreUnavailable
 */
export async function openProjectionForReading(
  options: Pick<LocalProjectionOptions<unknown>, 'file' | 'store' | 'applicationId' | 'schema' | 'rules'>,
): Promise<DatabaseSync | undefined> {
  const { file, store, schema } = options;
  const database = openLocalFileForReading(file);
  if (isOfVersion(database, { ...options, schema: `${progressSchema} ${schema}` })) {
    const { position, witness } = progressIn(database).read();
    const isOfStore = witness === undefined || (await isThere(store, witness));
    if (isOfStore && position <= (await store.head())) return database;
  }
  database.close();
  return undefined;
}

async function isThere(
  store: Pick<EventStore, 'read'>,
  { stream, revision, position }: NonNullable<Progress['witness']>,
): Promise<boolean> {
  for await (const event of store.read(stream, { from: revision, limit: 1 }))
    return event.revision === revision && event.position === position;
  return false;
}
