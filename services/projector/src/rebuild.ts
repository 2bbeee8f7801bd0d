/** Rebuilds all views from the events, in a view version beside the live one, and then makes it live. */
import {
  createFollower,
  failedStreamsMax,
  runUnderLease,
  tooManyFailedStreams,
  type EventStore,
  type FailedStream,
} from '@tollgate/event-store';
import {
  TollgateError,
  errorCode,
  omitUndefined,
  type Clock,
  type Ids,
  type Log,
} from '@tollgate/service-kit';
import {
  buildingIn,
  liveIn,
  onlyShard,
  readViewVersion,
  unreadIn,
  viewVersionEventType,
  viewVersionStream,
  withBuilding,
  withSwitched,
  withoutBuilding,
  withoutOtherReleases,
  type StoredViewVersion,
  type ViewVersion,
  type ViewVersionRecord,
} from '@tollgate/views';
import { projectOn } from './projecting.ts';
import { readProgress, requireLive, resumeProjection, type Projection } from './projection.ts';

export interface RebuildOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Stops it; a repeated rebuild resumes where it stopped. */
  signal: AbortSignal;
  /** Options of the lease that prevents two concurrent rebuilds; see `LeaseOptions`. */
  holder: string;
  isGone?: (holder: string) => boolean;
  /** Called about once a second with the number of projected events. */
  onProgress?: (progress: { viewVersion: ViewVersion; eventsRead: number }) => void;
  batchEventsMax?: number;
  cachedViewsMax?: number;
}

export type RebuildOutcome =
  | { kind: 'switched'; viewVersion: ViewVersion; eventsRead: number }
  /** Another rebuild switched while this one waited for the lease. */
  | { kind: 'already-switched'; viewVersion: ViewVersion }
  /** These streams failed; the live views are more complete, or too many streams failed: nothing was switched. */
  | { kind: 'refused'; failedStreams: readonly FailedStream[] }
  /** The signal was aborted. */
  | { kind: 'stopped' };

/** Large, because no read waits for a single event here, and a batch writes each changed view once. */
const defaults = { batchEventsMax: 5_000, cachedViewsMax: 20_000 };
const reportEveryMs = 1_000;

/**
 * The live view version of our schemas. If there is none, it is built: after an upgrade that changed the schemas, while
 * instances of the previous release continue with theirs. Undefined if the signal was aborted before.
 *
 * @throws StoreUnavailable; TollgateError `view_version_contended`, `too_many_failed_streams`
 */
export async function ensureLiveVersion(
  options: Omit<RebuildOptions, 'holder' | 'batchEventsMax' | 'cachedViewsMax'>,
): Promise<ViewVersion | undefined> {
  const { store, ids, clock, log, signal } = options;
  const found = await readViewVersion(store);
  const live = liveIn(found.record);
  if (live !== undefined && found.revision !== 'no-stream') return live;
  if (live === undefined) {
    log.info({ operation: 'rebuild' }, 'no view version of these schemas is live; one is being built');
    const outcome = await rebuild({ store, ids, clock, log, signal, holder: ids.uuid() });
    if (outcome.kind === 'refused')
      throw new TollgateError(tooManyFailedStreams, 'Too many streams cannot be projected: none is skipped.');
    // Recorded before the first view, so that another release does not mistake the views for its own.
  } else await appendViewVersion(options, found, found.record);
  return signal.aborted ? undefined : ensureLiveVersion(options);
}

/**
 * Announces the next view version, so that indexes can already follow it; writes it until it is complete; and makes it
 * live with one append. Projectors and indexes then switch to it on their own. Killed at any point, it has switched or
 * not, and may be repeated safely. Projectors remove the previous views.
 *
 * @throws StoreUnavailable; TollgateError `view_version_contended`
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildOutcome> {
  const { store, clock, ids, log, signal, holder, isGone } = options;
  const before = liveIn((await readViewVersion(store)).record);
  let outcome: RebuildOutcome = { kind: 'stopped' };
  const lease = { store, clock, ids, log, signal, holder, name: 'rebuild', ...omitUndefined({ isGone }) };
  await runUnderLease(lease, async (leaseSignal) => {
    const now = await readViewVersion(store);
    const live = liveIn(now.record);
    outcome =
      live === before || live === undefined
        ? await rebuildAlone({ ...options, signal: leaseSignal }, now)
        : { kind: 'already-switched', viewVersion: live };
  });
  return outcome;
}

/**
 * Gives up the view versions of other releases, so that projectors remove them. A process that still runs such a release
 * builds its views again at its next start.
 *
 * @returns the versions that were given up
 * @throws StoreUnavailable; TollgateError `view_version_missing`, `view_version_contended`
 */
export async function dropOtherReleases(
  options: Pick<RebuildOptions, 'store' | 'ids'>,
): Promise<ViewVersion[]> {
  const found = await readViewVersion(options.store);
  requireLive(found.record);
  const record = withoutOtherReleases(found.record);
  const dropped = unreadIn(record).filter((number) => !unreadIn(found.record).includes(number));
  if (dropped.length > 0) await writeViewVersion(options, found, record);
  return dropped;
}

async function rebuildAlone(options: RebuildOptions, found: StoredViewVersion): Promise<RebuildOutcome> {
  const { store, signal } = options;
  const live = liveIn(found.record);
  const announced =
    buildingIn(found.record) === undefined
      ? await writeViewVersion(options, found, withBuilding(found.record))
      : found;
  const viewVersion = buildingIn(announced.record) ?? announced.record.lastNumber;
  const { eventsRead, failedStreams } = await build(options, viewVersion);
  if (signal.aborted) return { kind: 'stopped' };
  // With too many failures it ended before it was complete, even if they are known.
  const isWhole = failedStreams.length <= failedStreamsMax;
  const known = live === undefined ? failedStreams : (await readProgress(store, live)).failedStreams;
  const isKnown = ({ stream }: FailedStream) => known.some((each) => each.stream === stream);
  const failedNow = failedStreams.filter((failed) => !isWhole || !isKnown(failed));
  if (failedNow.length > 0) {
    await writeViewVersion(options, announced, withoutBuilding(announced.record));
    return { kind: 'refused', failedStreams: failedNow };
  }
  await writeViewVersion(options, announced, withSwitched(announced.record));
  return { kind: 'switched', viewVersion, eventsRead };
}

/** Projects until every current event is projected, too many streams have failed, or the signal is aborted. */
async function build(options: RebuildOptions, viewVersion: ViewVersion) {
  const { clock, signal, onProgress = () => undefined } = options;
  const ending = new AbortController();
  let projection: Projection | undefined;
  let eventsRead = 0;
  let reportAt = clock.monotonic() + reportEveryMs;

  const follower = createFollower({ ...options, name: 'rebuild' }, async (running, gotOn) => {
    const parts = { ...defaults, ...options, viewVersion, shard: onlyShard };
    projection = await resumeProjection(parts);
    await projectOn(projection, {
      ...{ ...parts, holdMs: 0, signal: running },
      onBatch: ({ isEnd }, count) => {
        gotOn();
        eventsRead += count;
        if (isEnd) ending.abort();
        if (clock.monotonic() < reportAt) return;
        reportAt = clock.monotonic() + reportEveryMs;
        onProgress({ viewVersion, eventsRead });
      },
    }).catch((error: unknown) => {
      // The store may come back, but every attempt fails on the same streams.
      if (errorCode(error) !== tooManyFailedStreams) throw error;
      ending.abort();
    });
  });
  await follower.run(AbortSignal.any([signal, ending.signal]));
  return { eventsRead, failedStreams: projection?.failedStreams() ?? [] };
}

/** @throws TollgateError `view_version_contended` if another process has written one */
async function writeViewVersion(...args: Parameters<typeof appendViewVersion>): Promise<StoredViewVersion> {
  const written = await appendViewVersion(...args);
  if (written !== undefined) return written;
  throw new TollgateError('view_version_contended', 'Another rebuild was faster. Start again.', {
    retryable: true,
  });
}

/** Undefined if another process has written one. */
async function appendViewVersion(
  { store, ids }: Pick<RebuildOptions, 'store' | 'ids'>,
  { revision }: StoredViewVersion,
  record: ViewVersionRecord,
): Promise<StoredViewVersion | undefined> {
  const event = { id: ids.uuid(), type: viewVersionEventType, data: record, metadata: {} };
  const answer = await store.append(viewVersionStream, [event], revision, { keepLast: 1 });
  return answer.kind === 'appended' ? { record, revision: answer.revision } : undefined;
}
