/** Folds the events of payments, payouts and disputes into views, which the event store keeps as their own streams. */
import {
  beginning,
  countedSchema,
  createBatchAge,
  createCheckpoint,
  createEventCounts,
  createFollower,
  differingCountsStream,
  differingPrefixes,
  isContinued,
  type EventCounts,
  type EventStore,
  type FailedStream,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { checkpointStream, viewCheckpointSchema } from './view-kind.ts';
import { foldedPrefixes } from './view-kinds.ts';
import { createProjection, nothingProjected } from './view-writer.ts';

export interface ProjectorOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Maximum events folded before views are written. @default 500 */
  batchEventsMax?: number;
  /** Pause after a batch at the end of the store, so that a view that changes again soon is written once. @default 1000 */
  restMs?: number;
  /** Maximum views kept in memory. @default 1000 */
  cachedViewsMax?: number;
}

export interface ProjectorHealth {
  /** Every event at or before it is in a durable view, except those of `failedStreams`. */
  position: Position;
  /** Streams with an event that could not be applied. Their views are not updated. */
  failedStreams: readonly FailedStream[];
  /** False while the store is unavailable or too many streams have failed. */
  isAdvancing: boolean;
  /** Error code that ended the last pass, if none has made progress since. */
  failure: string | undefined;
  /** Comparisons with another follower that had a different count. */
  differences: number;
}

export type Projector = ReturnType<typeof createProjector>;

type Progress = Pick<ProjectorHealth, 'position' | 'failedStreams' | 'differences'>;

type Parts = ProjectorOptions & {
  progress: Progress;
  /** Last rebuild in search of a lost event, on the monotonic clock. */
  recount: { isDue: boolean; lastAt: number };
};

const recountEveryMs = 3_600_000;

export function createProjector(options: ProjectorOptions) {
  const progress: Progress = { position: beginning, failedStreams: [], differences: 0 };
  const parts: Parts = { ...options, progress, recount: { isDue: false, lastAt: -Infinity } };
  const follower = createFollower({ ...options, name: 'project', longestPauseMs: 15_000 }, (signal, gotOn) =>
    projectOnce(parts, signal, gotOn),
  );
  return {
    /**
     * Projects from the checkpoint until the signal is aborted, through failures of the store; may then be called again. Two
     * concurrent projectors duplicate work and do no harm.
     */
    run: follower.run,
    health: (): ProjectorHealth => ({ ...progress, ...follower.health() }),
  };
}

async function projectOnce(parts: Parts, signal: AbortSignal, gotOn: () => void): Promise<void> {
  const {
    store,
    clock,
    progress,
    recount,
    batchEventsMax = 500,
    restMs = 1_000,
    cachedViewsMax = 1_000,
  } = parts;
  const checkpoint = createCheckpoint({ ...parts, stream: checkpointStream, schema: viewCheckpointSchema });
  const last = (await checkpoint.read()) ?? nothingProjected;
  const projection = await createProjection({ ...parts, cachedViewsMax }, last.failedStreams);
  const from = recount.isDue ? nothingProjected : last;
  const counts = createEventCounts(foldedPrefixes, from);
  Object.assign(progress, { position: from.position, failedStreams: projection.failedStreams() });
  const age = createBatchAge(clock);
  let batch: RecordedEvent[] = [];
  let reported: RecordedEvent | undefined;
  const prefixes = [...foldedPrefixes, differingCountsStream];
  for await (const item of store.subscribe({ from: from.position, prefixes, signal })) {
    if (item.kind === 'event' && item.stream === differingCountsStream) {
      reported = item;
      continue;
    }
    if (item.kind === 'event') {
      counts.add(item);
      batch.push(item);
      // A view of a partial append could show an approved payment before its recurring token.
      if (isContinued(item) || (batch.length < batchEventsMax && !age.isDueWith())) continue;
    }
    const written = batch;
    batch = [];
    age.restart();
    await projection.write(written);
    const { position } = item;
    const failedStreams = projection.failedStreams();
    if (written.length > 0 && position >= last.position) {
      await checkpoint.advance({ position, counts: counts.current(), failedStreams });
      recount.isDue = false;
    }
    Object.assign(progress, { position, failedStreams });
    gotOn();
    if (item.kind === 'event') continue;
    if (isDifferent(parts, counts, reported)) return;
    reported = undefined;
    if (written.length > 0) await clock.sleep(restMs, signal).catch(() => undefined);
  }
}

/** True if all events are projected again because another follower has counted them differently. */
function isDifferent(
  { clock, log, progress, recount }: Parts,
  counts: EventCounts,
  reported?: RecordedEvent,
) {
  const theirs = countedSchema.safeParse(reported?.data).data;
  const differing = theirs && differingPrefixes(counts, theirs);
  if (theirs === undefined || differing === undefined || differing.length === 0) return false;
  progress.differences += 1;
  if (clock.monotonic() - recount.lastAt < recountEveryMs) return false;
  const { position } = theirs;
  log.error(
    { operation: 'project', position },
    `Followers have applied different numbers of events: ${JSON.stringify(counts.at(position))} by the projector, ${JSON.stringify(theirs.counts)} by another. All are projected again.`,
  );
  Object.assign(recount, { isDue: true, lastAt: clock.monotonic() });
  return true;
}
