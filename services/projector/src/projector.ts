/** Folds the events of payments, payouts and disputes into views, which the event store keeps as streams of their own. */
import {
  beginning,
  createFollower,
  type EventStore,
  type FailedStream,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import { omitUndefined, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import {
  liveIn,
  onlyShard,
  readViewVersion,
  toViewVersionRecord,
  unreadIn,
  type Shard,
  type ViewVersionRecord,
} from '@tollgate/views';
import { projectOn } from './projecting.ts';
import { resumeProjection, type Projection } from './projection.ts';
import { ensureLiveVersion } from './rebuild.ts';
import { removeUnreadViews } from './remove-views.ts';

export interface ProjectorOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The shard whose views are written; all streams by default. */
  shard?: Shard;
  /** The most events that are folded before views are written; 500 by default. */
  batchEventsMax?: number;
  /** How long a stream that has just begun waits for its next event, milliseconds; 250 by default. */
  holdMs?: number;
  /** The most views kept in memory; 5,000 by default. */
  cachedViewsMax?: number;
  /** How long after a switch the views of the version before are removed, milliseconds; 60,000 by default. */
  removalGraceMs?: number;
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
  /** Events since its creation, including those of other shards. */
  eventsRead: number;
}

export interface Projector {
  /**
   * Projects the live view version from its checkpoint until the signal is aborted, through failures of the store; may then
   * be called again. If none of our schemas is live, it is built first. The views of versions that nobody reads any more are
   * removed meanwhile. Two projectors at once do twice the work and no harm.
   */
  run(signal: AbortSignal): Promise<void>;
  health(): ProjectorHealth;
}

/** One of the shards does it for all. */
const removeBeside = (options: ProjectorOptions & { shard: Shard }, signal: AbortSignal): Promise<void> =>
  options.shard.number === 1
    ? removeUnreadViews({ ...options, ...omitUndefined({ graceMs: options.removalGraceMs }), signal })
    : Promise.resolve();

/** Another version is live for this release, or there are more views to remove: both are for the next pass. */
const changesWork = (before: ViewVersionRecord, now: ViewVersionRecord): boolean =>
  liveIn(now) !== liveIn(before) || unreadIn(now).length > unreadIn(before).length;

export function createProjector(options: ProjectorOptions): Projector {
  const { store } = options;
  let projection: Projection | undefined;
  let eventsRead = 0;

  const follower = createFollower(
    { ...options, name: 'project', longestPauseMs: 15_000 },
    async (signal, gotOn) => {
      const viewVersion = await ensureLiveVersion({ ...options, signal });
      if (viewVersion === undefined) return;
      const parts = { cachedViewsMax: 1_000, shard: onlyShard, ...options, viewVersion };
      projection = await resumeProjection(parts);
      // A switch after this read comes after the checkpoint, and so through the subscription.
      const found = await readViewVersion(store);
      if (liveIn(found.record) !== viewVersion) return;
      // The log of a server that was not scavenged shows former records, too: they say nothing about now.
      const isNews = ({ revision }: RecordedEvent) =>
        found.revision === 'no-stream' || revision > found.revision;
      const leaving = new AbortController();
      const removing = removeBeside(parts, AbortSignal.any([signal, leaving.signal]));
      try {
        await projectOn(projection, {
          ...{ batchEventsMax: 500, holdMs: 250, ...options, signal },
          isSwitch: (event) => isNews(event) && changesWork(found.record, toViewVersionRecord(event)),
          onBatch: (_, count) => {
            eventsRead += count;
            gotOn();
          },
        });
      } finally {
        leaving.abort();
        await removing;
      }
    },
  );

  return {
    run: follower.run,
    health: () => ({
      position: projection?.position() ?? beginning,
      failedStreams: projection?.failedStreams() ?? [],
      eventsRead,
      ...follower.health(),
    }),
  };
}
