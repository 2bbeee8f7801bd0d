/** The views of one view version: batch by batch, views first and the checkpoint after them. */
import {
  beginning,
  createCheckpoint,
  createFailedStreams,
  type EventStore,
  type FailedStream,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import { TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import {
  checkpointStreamOf,
  readFurthestShards,
  liveIn,
  shardNumberOf,
  shardsMax,
  viewCheckpointSchema,
  type Shard,
  type ViewCheckpoint,
  type ViewVersion,
  type ViewVersionRecord,
} from '@tollgate/views';
import { createViewWriter } from './view-writer.ts';

export interface ProjectionOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The view version that is written. */
  viewVersion: ViewVersion;
  /** Shard of the streams that are projected; the events of all are read. */
  shard: Shard;
  cachedViewsMax: number;
}

/** Where a batch ends. */
export interface Reached {
  position: Position;
  /** Nothing follows it at the moment. */
  isEnd: boolean;
}

export interface Projection {
  /** Every event at or before it is in a durable view, except those of the failed streams. */
  position(): Position;
  failedStreams(): FailedStream[];
  /**
   * Writes the views of a batch, and then that every event up to `reached` is in them.
   *
   * @throws StoreUnavailable; TollgateError `too_many_failed_streams`
   */
  project(batch: readonly RecordedEvent[], reached: Reached): Promise<void>;
}

/**
 * How often at most the checkpoint follows the end of the store while there is nothing to project. Rarely, because every
 * checkpoint moves the end itself, and several projectors would react to each other's.
 */
const idleCheckpointMs = 10_000;

/** View writes under way at once: enough to be committed together, few enough to be answered in time. */
const writesAtOnceMax = 256;

/**
 * Resumes from the checkpoint, and retries the failed streams: the code may have changed.
 *
 * @throws StoreUnavailable
 */
export async function resumeProjection(options: ProjectionOptions): Promise<Projection> {
  const { store, clock, log, viewVersion, shard } = options;
  const stream = checkpointStreamOf(viewVersion, shard);
  const checkpoint = createCheckpoint({ ...options, stream, schema: viewCheckpointSchema });
  const views = createViewWriter(options);
  const isOwn = (name: string) => shard.count === 1 || shardNumberOf(name, shard.count) === shard.number;

  const last = await furthest(store, viewVersion, await checkpoint.read());
  const stillFailed: FailedStream[] = [];
  for (const known of last.failedStreams.filter((each) => isOwn(each.stream))) {
    const failure = await views.catchUp(known.stream);
    if (failure !== undefined) stillFailed.push(failure.failed);
  }
  const failures = createFailedStreams(log, stillFailed);
  let { position } = last;
  let end = beginning;

  /** Writes the views concurrently, so that the store commits them together; those of one stream in their order. */
  async function writeViews(batch: readonly RecordedEvent[]): Promise<void> {
    const own = batch.filter((event) => isOwn(event.stream) && !failures.has(event.stream));
    const byStream = Map.groupBy(own, (event) => event.stream);
    const waiting = byStream.entries();
    const writeInTurn = async () => {
      for (const [name, events] of waiting) {
        const failure = await views.write(name, events);
        if (failure !== undefined) failures.add(failure);
      }
    };
    const writers = Array.from({ length: Math.min(writesAtOnceMax, byStream.size) }, writeInTurn);
    // Waits for all even if one fails: no write may continue beside the next attempt.
    for (const outcome of await Promise.allSettled(writers))
      if (outcome.status === 'rejected') throw outcome.reason as Error;
  }

  return {
    position: () => position,
    failedStreams: failures.list,
    project: async (batch, reached) => {
      // The checkpoint itself moves the end of the store: reacting to that with another one would never end.
      const isIdleDue = reached.position > end && checkpoint.ageMs() >= idleCheckpointMs;
      if (batch.length === 0 && !isIdleDue) return;
      await writeViews(batch);
      // Events before those of the batch may be held back: then nothing more is certain than before.
      if (reached.position <= position) return;
      end = await checkpoint.advance({ position: reached.position, failedStreams: failures.list() });
      position = reached.position;
    },
  };
}

/**
 * The shard's own checkpoint, or the common one of all shards of another shard count, if that is further: so a changed
 * number of shards resumes where the previous one ended.
 */
async function furthest(
  store: EventStore,
  viewVersion: ViewVersion,
  own: ViewCheckpoint = { position: beginning, failedStreams: [] },
): Promise<ViewCheckpoint> {
  const together = await readProgress(store, viewVersion);
  return own.position >= together.position ? own : together;
}

/** The live version of our schemas. @throws TollgateError `view_version_missing` */
export function requireLive(record: ViewVersionRecord): ViewVersion {
  const live = liveIn(record);
  if (live !== undefined) return live;
  throw new TollgateError(
    'view_version_missing',
    'No read models of this release are live yet; start its projector.',
  );
}

/** How far all views of a view version have come, and which streams could not be projected. */
export async function readProgress(store: EventStore, viewVersion: ViewVersion): Promise<ViewCheckpoint> {
  const together = await readFurthestShards(store, {
    ...{ countMax: shardsMax, schema: viewCheckpointSchema },
    streamOf: (shard) => checkpointStreamOf(viewVersion, shard),
  });
  return {
    position: together.position,
    failedStreams: together.said.flatMap(({ failedStreams }) => failedStreams),
  };
}
