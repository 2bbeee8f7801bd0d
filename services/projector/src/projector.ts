/** Folds the events of payments, payouts and disputes into documents, which are kept in the event store as streams of their own. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import {
  viewKinds,
  viewVersionStream,
  onlyShard,
  readViewVersion,
  toViewVersionRecord,
  type ViewKind,
  type FailedStream,
  type ViewVersion,
  type Shard,
} from '@tollgate/views';
import { errorCode, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { createViewsProjection } from './views-projection.ts';
import { createJointProjection } from './joint-projection.ts';
import type { Projection, ProjectionOptions, Reached } from './projection.ts';
import { createTotalsProjection, totalsKinds } from './totals-projection.ts';

export interface ProjectorOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Events that are folded before documents are written, at most; 500 by default. */
  batchEventsMax?: number;
  /** Documents kept in memory at most; 5,000 by default. */
  cachedViewsMax?: number;
  /** The generation that is written; by default the live one, also when another one becomes that. */
  viewVersion?: ViewVersion;
}

export interface ProjectorHealth {
  /** Every event at or before it is in a durable document, except those of `failedStreams`. */
  position: Position;
  /**
   * Streams with an event that could not be applied. Their documents stand still. While there is a `failure`, those that
   * were known when it came: the next try begins to find them anew.
   */
  failedStreams: readonly FailedStream[];
  /** False while the store is not reached or too many streams have failed. */
  isAdvancing: boolean;
  /** Code of what ended the last pass, where none has got on since. */
  failure: string | undefined;
  /** Nothing was left to project when it looked last. */
  isAtEnd: boolean;
  /** Since it was made, those of other shards among them. */
  eventsRead: number;
}

export interface Projector {
  /**
   * Projects from the checkpoint until the signal is aborted, through failures of the store; may be called again then.
   * Two projectors at a time do twice the work and no harm.
   */
  run(signal: AbortSignal): Promise<void>;
  /** As `run`, in the background. */
  start(): Promise<void>;
  /** Resolves when the batch under way is written or given up. */
  stop(): Promise<void>;
  health(): ProjectorHealth;
}

const firstPauseMs = 200;
const longestPauseMs = 15_000;

/** Projects the documents of payments, payouts and disputes, or those of one shard of them. */
export const createProjector = ({
  shard = onlyShard,
  ...options
}: ProjectorOptions & { shard?: Shard }): Projector =>
  createProjectorOf(viewKinds, options, (parts) => createViewsProjection({ ...parts, shard }));

/** Projects the totals. They are not sharded: which document an event concerns cannot be told from its stream's name. */
export const createTotalsProjector = (options: ProjectorOptions): Projector =>
  createProjectorOf(totalsKinds, options, createTotalsProjection);

/** Projects the documents and the totals from one reading of the events; as fast as the slower of the two. */
export const createWholeProjector = (options: ProjectorOptions): Projector =>
  createProjectorOf(viewKinds, options, (parts) =>
    createJointProjection(parts, [
      (part) => createViewsProjection({ ...part, shard: onlyShard }),
      createTotalsProjection,
    ]),
  );

function createProjectorOf(
  kinds: readonly ViewKind[],
  options: ProjectorOptions,
  createProjection: (parts: ProjectionOptions) => Projection,
): Projector {
  const { store, clock, ids, log, batchEventsMax = 500, cachedViewsMax = 5_000 } = options;
  const prefixes = [...kinds.map(({ streamPrefix }) => streamPrefix), viewVersionStream];
  let projection: Projection | undefined;
  let isAdvancing = false;
  let failed: Pick<ProjectorHealth, 'failure' | 'failedStreams'> | undefined;
  let isAtEnd = false;
  let eventsRead = 0;
  let pauseMs = firstPauseMs;
  const position = () => projection?.position() ?? beginning;
  const failedStreams = () => projection?.failedStreams() ?? [];

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await projectFromCheckpoint(signal);
      } catch (error) {
        isAdvancing = isAtEnd = false;
        failed = { failure: errorCode(error) ?? 'projecting_failed', failedStreams: failedStreams() };
        const waitMs = Math.round(pauseMs * (0.5 + ids.fraction() / 2));
        log.error(
          { error, waitMs, position: position() },
          'projecting failed; it resumes from the checkpoint',
        );
        await clock.sleep(waitMs, signal).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
    }
    isAdvancing = false;
  }

  async function projectFromCheckpoint(signal: AbortSignal): Promise<void> {
    const { viewVersion, from } = await takeUp(options, (of) => {
      projection = createProjection({ store, clock, ids, log, viewVersion: of, cachedViewsMax });
      return projection;
    });
    // What a batch holds at a switch is projected again from the checkpoint of the other generation.
    const isSwitch = (event: RecordedEvent) =>
      options.viewVersion === undefined && toViewVersionRecord(event).live !== viewVersion;
    const subscribe = (reading: AbortSignal) => store.subscribe({ from, prefixes, signal: reading });
    await projectInBatches(subscribe, { signal, batchEventsMax, isSwitch, projectBatch });
  }

  async function projectBatch(batch: readonly RecordedEvent[], reached: Reached): Promise<void> {
    await projection?.project(batch, reached);
    isAtEnd = reached.isEnd;
    eventsRead += batch.length;
    isAdvancing = true;
    failed = undefined;
    pauseMs = firstPauseMs;
  }

  return {
    run,
    ...inBackground(run),
    health: () => ({
      position: position(),
      ...(failed ?? { failure: undefined, failedStreams: failedStreams() }),
      isAdvancing,
      isAtEnd,
      eventsRead,
    }),
  };
}

interface Batching {
  signal: AbortSignal;
  batchEventsMax: number;
  /** Whether an event of the generation's stream ends it. */
  isSwitch: (event: RecordedEvent) => boolean;
  projectBatch: (batch: readonly RecordedEvent[], reached: Reached) => Promise<void>;
}

/** Until the signal is aborted or the generation is another one. The next batch is read while one is written. */
async function projectInBatches(
  subscribe: (signal: AbortSignal) => ReturnType<EventStore['subscribe']>,
  { signal, batchEventsMax, isSwitch, projectBatch }: Batching,
): Promise<void> {
  const failing = new AbortController();
  let batch: RecordedEvent[] = [];
  let underWay = Promise.resolve();
  try {
    for await (const item of subscribe(AbortSignal.any([signal, failing.signal]))) {
      if (item.kind === 'event' && item.stream === viewVersionStream) {
        if (isSwitch(item)) return;
        continue;
      }
      if (item.kind === 'event' && batch.push(item) < batchEventsMax) continue;
      await underWay;
      underWay = projectBatch(batch, { position: item.position, isEnd: item.kind === 'caught-up' });
      underWay.catch(() => failing.abort());
      if (item.kind === 'caught-up') await underWay;
      batch = [];
    }
  } finally {
    await underWay;
  }
}

/** Takes up the checkpoint of the generation to be written. */
async function takeUp(
  { store, viewVersion: wanted }: ProjectorOptions,
  createProjection: (viewVersion: ViewVersion) => Projection,
): Promise<{ viewVersion: ViewVersion; from: Position }> {
  for (;;) {
    const viewVersion = wanted ?? (await liveViewVersion(store));
    const projection = createProjection(viewVersion);
    await projection.resume();
    // A switch after this look comes after the checkpoint, and so through the subscription.
    if (viewVersion === (wanted ?? (await liveViewVersion(store))))
      return { viewVersion, from: projection.position() };
  }
}

const liveViewVersion = async (store: EventStore): Promise<ViewVersion> =>
  (await readViewVersion(store)).record.live;

function inBackground(run: Projector['run']): Pick<Projector, 'start' | 'stop'> {
  let background: { stopping: AbortController; ended: Promise<void> } | undefined;
  return {
    start: async () => {
      const stopping = new AbortController();
      background ??= { stopping, ended: run(stopping.signal) };
      await Promise.resolve();
    },
    stop: async () => {
      background?.stopping.abort();
      await background?.ended;
      background = undefined;
    },
  };
}
