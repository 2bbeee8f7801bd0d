/** Builds all documents again from the events, beside those that are read, and then lets these be read. */
import { runUnderLease, type EventStore } from '@tollgate/event-store';
import {
  viewVersionEventType,
  viewVersionStream,
  readViewVersion,
  totalsCheckpointStreamOf,
  totalsVersions,
  type FailedStream,
  type ViewVersion,
  type ViewVersionRecord,
  type StoredViewVersion,
} from '@tollgate/views';
import { TollgateError, given, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { peekCheckpoint } from './checkpoint.ts';
import { readProgress } from './views-projection.ts';
import { tooManyFailedStreams } from './projection.ts';
import { createWholeProjector, type ProjectorHealth } from './projector.ts';

export interface RebuildOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Ends it; when it is begun again, it goes on where it has ended. */
  signal: AbortSignal;
  /** Of the lease that keeps two from building at a time; see `LeaseOptions`. */
  holder: string;
  isGone?: (holder: string) => boolean;
  /** Told about once a second how many events were projected. */
  onProgress?: (progress: { viewVersion: ViewVersion; eventsRead: number }) => void;
  batchEventsMax?: number;
  cachedViewsMax?: number;
}

export type RebuildOutcome =
  | { kind: 'switched'; viewVersion: ViewVersion; eventsRead: number }
  /** Somebody else has switched while this waited for its turn. */
  | { kind: 'already-switched'; viewVersion: ViewVersion }
  /** These would stand still, and the documents of now have more of them, or they are too many: nothing was switched. */
  | { kind: 'refused'; failedStreams: readonly FailedStream[] }
  /** The signal was aborted. */
  | { kind: 'stopped' };

/** Nobody waits for a single event here, and a document that changes several times in a batch is written once. */
const batchEventsMaxDefault = 5_000;
const cachedViewsMaxDefault = 20_000;
const pollEveryMs = 100;
const pollsPerReport = 10;

/**
 * Announces the next generation, so that whoever reads documents can read these along; writes it until nothing is left
 * to write; and makes it the live one with one append. Whoever projects and reads turns to it by itself. Killed at any
 * point it has switched or not, and is begun again safely. The documents before it stay in the store, where nobody reads
 * them any more: the port does not delete.
 *
 * @throws StoreUnavailable; TollgateError `view_version_contended`
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildOutcome> {
  const { store, clock, ids, log, signal, holder, isGone } = options;
  const before = await readViewVersion(store);
  let outcome: RebuildOutcome = { kind: 'stopped' };
  const lease = { store, clock, ids, log, signal, holder, name: 'rebuild', ...given({ isGone }) };
  await runUnderLease(lease, async (held) => {
    const now = await readViewVersion(store);
    const { live } = now.record;
    outcome =
      live === before.record.live
        ? await rebuildAlone({ ...options, signal: held }, now)
        : { kind: 'already-switched', viewVersion: live };
  });
  return outcome;
}

async function rebuildAlone(options: RebuildOptions, found: StoredViewVersion): Promise<RebuildOutcome> {
  const { store, signal } = options;
  const { live, abandoned = live, building: viewVersion = abandoned + 1 } = found.record;
  const announced =
    found.record.building === undefined
      ? await writeViewVersion(options, found, { schemaVersion: 1, live, building: viewVersion })
      : found;
  const { eventsRead, failedStreams, failure } = await build(options, viewVersion);
  if (signal.aborted) return { kind: 'stopped' };
  const known = new Set((await failedStreamsOf(store, live)).map(({ stream }) => stream));
  // Where they are too many, it ended before it was whole, whoever knows them.
  const isWhole = failure !== tooManyFailedStreams;
  const failedNow = failedStreams.filter(({ stream }) => !isWhole || !known.has(stream));
  if (failedNow.length > 0) {
    // Its totals would stay without these streams, also for code that can read them.
    await writeViewVersion(options, announced, { schemaVersion: 1, live, abandoned: viewVersion });
    return { kind: 'refused', failedStreams: failedNow };
  }
  await writeViewVersion(options, announced, { schemaVersion: 1, live: viewVersion });
  return { kind: 'switched', viewVersion, eventsRead };
}

/** Projects until everything of now is projected, too many streams have failed, or the signal is aborted. */
async function build(options: RebuildOptions, viewVersion: ViewVersion): Promise<ProjectorHealth> {
  const { clock, signal, onProgress = () => undefined } = options;
  const ending = new AbortController();
  const projector = createWholeProjector({
    batchEventsMax: batchEventsMaxDefault,
    cachedViewsMax: cachedViewsMaxDefault,
    ...options,
    viewVersion,
  });
  const running = projector.run(AbortSignal.any([signal, ending.signal]));
  let health = projector.health();
  try {
    for (let inquiries = 1; !signal.aborted && !isOver(health); inquiries += 1) {
      await clock.sleep(pollEveryMs, signal).catch(() => undefined);
      health = projector.health();
      if (inquiries % pollsPerReport === 0) onProgress({ viewVersion, eventsRead: health.eventsRead });
    }
  } finally {
    ending.abort();
    await running;
  }
  // What it was given up for stands, whatever its next try has come to by now.
  return health.isAtEnd ? projector.health() : health;
}

/** The store may come back, but streams that cannot be projected are as many with every try. */
const isOver = ({ isAtEnd, failure }: ProjectorHealth): boolean =>
  isAtEnd || failure === tooManyFailedStreams;

/** Streams without which the documents or the totals of a generation are. */
async function failedStreamsOf(store: EventStore, viewVersion: ViewVersion): Promise<FailedStream[]> {
  const views = await readProgress(store, viewVersion);
  const totals = await peekCheckpoint(store, totalsCheckpointStreamOf(viewVersion), totalsVersions);
  return [...views.failedStreams, ...(totals?.failedStreams ?? [])];
}

/** @throws TollgateError `view_version_contended` where somebody else has written one */
async function writeViewVersion(
  { store, ids }: Pick<RebuildOptions, 'store' | 'ids'>,
  { revision }: StoredViewVersion,
  record: ViewVersionRecord,
): Promise<StoredViewVersion> {
  // Before the first one, so that a crash in between cannot leave a stream that grows.
  if (revision === 'no-stream') await store.keepLast(viewVersionStream, 1);
  const event = { id: ids.uuid(), type: viewVersionEventType, data: record, metadata: {} };
  const answer = await store.append(viewVersionStream, [event], revision);
  if (answer.kind === 'appended') return { record, revision: answer.revision };
  throw new TollgateError('view_version_contended', 'Another rebuild has been faster; begin again.', {
    retryable: true,
  });
}
