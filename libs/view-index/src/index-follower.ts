/**
 * Keeps the index file in step with the live views in the event store. While the next view version is being built, it is
 * indexed in a second file, which replaces the first one when that version becomes live.
 */
import { beginning, createFollower, readLast, type EventStore, type Position } from '@tollgate/event-store';
import type { Postponed } from '@tollgate/payment-domain';
import { TollgateError, omitUndefined, type Clock, type Log } from '@tollgate/service-kit';
import {
  buildingIn,
  checkpointStreamOf,
  liveIn,
  onlyShard,
  readViewVersion,
  type ViewVersion,
} from '@tollgate/views';
import { followViews } from './follow-views.ts';
import { createHeldIndexFile, type HeldIndexFile } from './held-index-file.ts';
import { indexRebuilding, type IndexFile, type IndexFileOptions } from './index-file.ts';
import { isDamage } from './open-index-file.ts';
import type { PositionWatch } from './position-watch.ts';

/** How far an index is that is not whole yet. */
export interface IndexBuilding {
  /** Position in the store of the last view that was indexed. */
  followed: Position;
  /** Position of the last view when the rebuild began, absent if there was none. Later views follow. */
  head?: Position;
  /** How many were taken over since the building began. */
  views: number;
}

export interface IndexFollower {
  /** The open file; undefined before `open`, after `close`, and while a damaged file cannot be replaced. */
  file(): IndexFile | undefined;
  /** False until every current view is in the file. */
  isComplete(): boolean;
  /** Streams whose views are older than the position that the file has reached. */
  setAside(): readonly string[];
  /** How far the building has come; undefined once `isComplete`. */
  building(): IndexBuilding | undefined;
  /** Reports damage that a read has found. */
  rebuildSoon(error: unknown): void;
  /** Moves due times of inquiries. @throws TollgateError `index_rebuilding`, retryable */
  postpone(postponed: readonly Postponed[]): Promise<void>;
  /** @throws StartupError if the file cannot be used. */
  open(): void;
  /** Follows the views until the signal is aborted, through failures of the store and the file. */
  follow(signal: AbortSignal, onCaughtUp: () => void): Promise<void>;
  close(): void;
}

/** Its pauses are short: what is read falls behind meanwhile. */
const following = { name: 'follow-views', longestPauseMs: 2_000 };

export interface IndexFollowerOptions extends IndexFileOptions {
  /** Path of the SQLite file. */
  path: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  /** Moves to the position that the views in the file have reached. */
  watch: PositionWatch;
  /** Called whenever what this tells may be another. */
  onChange?: () => void;
  /** The most views per transaction; so few that requests are served in between unless set. */
  batchEventsMax?: number;
}

/** What is known of the file between two passes. */
interface FollowState {
  /** That of the file. */
  viewVersion: ViewVersion | undefined;
  /** Every current view is in the file. */
  isComplete: boolean;
  setAside: readonly string[];
  /** Met by a read or a write: the next pass begins with an empty file. */
  isDamaged: boolean;
  building: IndexBuilding;
  /** Ends the pass that is under way. */
  restart: () => void;
}

type Parts = IndexFollowerOptions & { held: HeldIndexFile; state: FollowState; onChange: () => void };

export function createIndexFollower(options: IndexFollowerOptions): IndexFollower {
  const { clock, log, onChange = () => undefined } = options;
  const held = createHeldIndexFile(options);
  const state: FollowState = {
    ...{ viewVersion: undefined, isComplete: false, isDamaged: false, restart: () => undefined },
    ...{ building: { followed: beginning, views: 0 }, setAside: [] },
  };
  const parts = { ...options, held, state, onChange };

  /** What is not whole says so, however long it takes to replace it. */
  function markDamaged(): void {
    Object.assign(state, { isDamaged: true, isComplete: false });
    onChange();
  }

  function rebuildSoon(error: unknown): void {
    log.error({ error, operation: 'read-index' }, 'the index is damaged; it is rebuilt');
    markDamaged();
    state.restart();
  }

  function change(work: (file: IndexFile) => void): void {
    const file = held.file();
    if (file === undefined) throw indexRebuilding();
    try {
      work(file);
    } catch (error) {
      if (!isDamage(error)) throw error;
      rebuildSoon(error);
      throw indexRebuilding(error);
    }
  }

  return {
    file: held.file,
    isComplete: () => state.isComplete,
    setAside: () => state.setAside,
    building: () => (state.isComplete ? undefined : state.building),
    rebuildSoon,
    postpone: async (postponed) => change((file) => file.postpone(postponed)),
    open() {
      held.open();
      onChange();
    },
    follow: (signal, onCaughtUp) =>
      createFollower({ clock, log, ...following }, async (running, gotOn) => {
        try {
          await followOnce(parts, running, (isCaughtUp) => {
            gotOn();
            if (isCaughtUp) onCaughtUp();
          });
        } catch (error) {
          if (isDamage(error)) markDamaged();
          throw error;
        }
      }).run(signal),
    close: held.close,
  };
}

/** One pass: until the signal is aborted, another view version is live or being built, or something fails. */
async function followOnce(
  parts: Parts,
  signal: AbortSignal,
  onStep: (isCaughtUp: boolean) => void,
): Promise<void> {
  const { store, log, watch, held, state, batchEventsMax, onChange } = parts;
  const restarting = new AbortController();
  const restart = () => restarting.abort();
  state.restart = restart;
  const until = AbortSignal.any([signal, restarting.signal]);
  const { record, revision } = await readViewVersion(store);
  const [live, next] = [liveIn(record), buildingIn(record)];
  // A file that is whole answers until the one of the live version is, too.
  const followed = (state.isComplete ? state.viewVersion : undefined) ?? live ?? next ?? noneToFollow();
  const file = await openFileOf(parts, followed, followed === (live ?? next));
  onChange();
  const isSwitching = live !== undefined && live !== followed;
  const wanted = isSwitching ? live : next === followed ? undefined : next;
  if (wanted === undefined) held.deleteBeside();
  const beside = followBeside(parts, { viewVersion: wanted, signal: until }, (source) => {
    const isReady = isSwitching && source >= watch.current();
    if (isReady) restart();
    return isReady;
  });
  try {
    await followViews({
      ...{ store, log, file, viewVersion: followed, signal: until, batchEventsMax },
      onProgress: (progress, isCaughtUp, taken) => {
        watch.moveTo(progress.source);
        state.setAside = progress.setAside ?? [];
        const views = state.building.views + taken;
        state.building = { ...state.building, followed: progress.followed, views };
        if (isCaughtUp && followed === live) state.isComplete = !state.isDamaged;
        onChange();
        onStep(isCaughtUp);
      },
      onViewVersion: (event) => {
        if (revision === 'no-stream' || event.revision > revision) restart();
      },
    });
  } finally {
    restart();
    const ready = await beside;
    if (ready !== undefined) state.viewVersion = wanted;
    held.endBeside(ready);
  }
}

async function openFileOf(
  { store, watch, held, state }: Parts,
  viewVersion: ViewVersion,
  isCurrent: boolean,
): Promise<IndexFile> {
  const before = held.file();
  if (state.isDamaged) held.rebuild();
  state.isDamaged = false;
  const file = await held.fileOf(viewVersion, isCurrent);
  // One that was whole stays so while the store is not reached.
  if (file !== before) state.isComplete = false;
  state.viewVersion = viewVersion;
  const { source, setAside = [] } = file.progress();
  watch.reset(source);
  state.setAside = setAside;
  state.building = await buildingFrom(file, store, viewVersion);
  return file;
}

/** Follows into the second file until the signal is aborted; returns the file if it was ready by then. */
async function followBeside(
  { held, store, log, clock }: Parts,
  { viewVersion, signal }: { viewVersion: ViewVersion | undefined; signal: AbortSignal },
  isReady: (source: Position) => boolean,
): Promise<IndexFile | undefined> {
  let ready: IndexFile | undefined;
  if (viewVersion === undefined) return ready;
  const follower = createFollower({ clock, log, ...following }, async (running, gotOn) => {
    const file = held.openBeside(viewVersion);
    await followViews({
      ...{ store, log, file, viewVersion, signal: running },
      onProgress: ({ source }, isCaughtUp) => {
        gotOn();
        ready = isCaughtUp && isReady(source) ? file : undefined;
      },
    }).catch((error: unknown) => {
      if (isDamage(error)) held.deleteBeside();
      throw error;
    });
  });
  await follower.run(signal);
  return ready;
}

const buildingFrom = async (
  file: IndexFile,
  store: EventStore,
  viewVersion: ViewVersion,
): Promise<IndexBuilding> => ({
  followed: file.progress().followed,
  views: 0,
  // The checkpoint is written after the views.
  ...omitUndefined({ head: (await readLast(store, checkpointStreamOf(viewVersion, onlyShard)))?.position }),
});

function noneToFollow(): never {
  throw new TollgateError(
    'view_version_missing',
    'There are no views of this release yet. Start its projector.',
    { retryable: true },
  );
}
