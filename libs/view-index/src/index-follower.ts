/**
 * Keeps the index's file up with the live documents in the event store. While a rebuild is under way its documents are
 * taken into a second file, which takes the place of the first one when they have become the live ones.
 */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import { given, type Clock, type Log } from '@tollgate/service-kit';
import {
  checkpointStreamOf,
  onlyShard,
  totalsCheckpointStreamOf,
  readViewVersion,
  toViewVersionRecord,
  type ViewVersion,
} from '@tollgate/views';
import { followViews } from './follow-views.ts';
import { createHeldIndexFile } from './held-index-file.ts';
import { createIndexBeside } from './index-beside.ts';
import type { IndexFile, IndexProgress } from './index-file.ts';
import { isDamage } from './open-index-file.ts';
import type { PositionWatch } from './position-watch.ts';

const retryPauseMs = 500;

/** How far an index is that is not whole yet. */
export interface IndexBuilding {
  /** Position in the store of the last document that was taken over. */
  followed: Position;
  /** Where the documents of the store ended when the building began; absent where there were none. Then come those written since. */
  head?: Position;
  /** How many were taken over since the building began. */
  views: number;
}

export interface IndexFollower {
  /** The open file; undefined before `open`, after `close`, and while a damaged file cannot be replaced. */
  file(): IndexFile | undefined;
  /** False until every document of now is in the file. */
  isComplete(): boolean;
  /** How far the building has come; undefined once `isComplete`. */
  building(): IndexBuilding | undefined;
  /** To be told of damage that a read has met. */
  rebuildSoon(error: unknown): void;
  /** @throws StartupError where the file cannot be used. */
  open(): void;
  /** Follows the documents until the signal is aborted, through failures of the store and the file. */
  follow(signal: AbortSignal, onCaughtUp: () => void): Promise<void>;
  close(): void;
}

export interface IndexFollowerOptions {
  /** Path of the SQLite file. */
  path: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  /** Is moved to the position that the documents in the file have come to. */
  watch: PositionWatch;
  /** As `watch`, of the totals. */
  totalsWatch: PositionWatch;
}

export function createIndexFollower(options: IndexFollowerOptions): IndexFollower {
  const { path, store, log, clock } = options;
  const watches = watchesOf(options);
  const held = createHeldIndexFile({ path, store, log });
  let isComplete = false;
  let building: IndexBuilding = { followed: beginning, views: 0 };
  let isDamaged = false;
  let restarting = new AbortController();

  /** What is not whole says so, however long it takes to replace it. */
  function markDamaged(): void {
    isDamaged = true;
    isComplete = false;
  }

  async function followOnce(signal: AbortSignal, onCaughtUp: () => void): Promise<void> {
    restarting = new AbortController();
    const fileBefore = held.file();
    if (isDamaged) held.rebuild();
    isDamaged = false;
    const { record } = await readViewVersion(store);
    const file = await held.fileOf(record.live);
    // One that was whole stays so while the store is not reached.
    if (file !== fileBefore) isComplete = false;
    watches.reset(file.progress());
    building = await buildingFrom(file, store, record.live);
    const untilRestart = AbortSignal.any([signal, restarting.signal]);
    const beside = createIndexBeside({ held, store, log, clock, onReady: () => restarting.abort() });
    beside.turnTo(record, record.live);
    const onProgress = (progress: IndexProgress, isCaughtUp: boolean, taken: number) => {
      watches.moveTo(progress);
      building = { ...building, followed: progress.followed, views: building.views + taken };
      beside.mustReach(progress.source);
      if (!isCaughtUp) return;
      isComplete = !isDamaged;
      onCaughtUp();
    };
    try {
      const onViewVersion = (event: RecordedEvent) => beside.turnTo(toViewVersionRecord(event), record.live);
      const following = { store, log, file, viewVersion: record.live, signal: untilRestart };
      await followViews({ ...following, onProgress, onViewVersion });
    } finally {
      await beside.end();
    }
  }

  async function follow(signal: AbortSignal, onCaughtUp: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        await followOnce(signal, onCaughtUp);
      } catch (error) {
        if (isDamage(error)) markDamaged();
        log.error(
          { error, waitMs: retryPauseMs, operation: 'follow-documents' },
          'the index fell behind; it tries again',
        );
        await clock.sleep(retryPauseMs, signal).catch(() => undefined);
      }
    }
  }

  return {
    file: held.file,
    isComplete: () => isComplete,
    building: () => (isComplete ? undefined : building),
    rebuildSoon: (error) => {
      log.error({ error, operation: 'read-index' }, 'the index is damaged; it is built again');
      markDamaged();
      restarting.abort();
    },
    open: held.open,
    follow,
    close: held.close,
  };
}

/** Both positions of a file, told to those who wait for them. */
const watchesOf = ({ watch, totalsWatch }: Pick<IndexFollowerOptions, 'watch' | 'totalsWatch'>) => ({
  reset: ({ source, totals = beginning }: IndexProgress) => {
    watch.reset(source);
    totalsWatch.reset(totals);
  },
  moveTo: ({ source, totals = beginning }: IndexProgress) => {
    watch.moveTo(source);
    totalsWatch.moveTo(totals);
  },
});

const buildingFrom = async (
  file: IndexFile,
  store: EventStore,
  viewVersion: ViewVersion,
): Promise<IndexBuilding> => ({
  followed: file.progress().followed,
  views: 0,
  ...given({ head: await headOf(store, viewVersion) }),
});

/** The checkpoints are written after the documents. */
async function headOf(store: EventStore, viewVersion: ViewVersion): Promise<Position | undefined> {
  let head: Position | undefined;
  for (const stream of [checkpointStreamOf(viewVersion, onlyShard), totalsCheckpointStreamOf(viewVersion)])
    for await (const { position } of store.read(stream, { direction: 'backwards', limit: 1 }))
      head = head === undefined || position > head ? position : head;
  return head;
}
