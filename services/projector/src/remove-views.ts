/** Removes the views of versions that nobody reads any more: an event store keeps them for ever otherwise. */
import {
  beginning,
  createCheckpoint,
  createFollower,
  createRecentlyUsed,
  type EventStore,
  type Position,
} from '@tollgate/event-store';
import { TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import {
  nothingRemoved,
  viewPrefixOf,
  viewRemovalSchema,
  viewRemovalStream,
  viewVersionsToRemove,
  type ViewVersion,
} from '@tollgate/views';

export interface ViewRemovalOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  signal: AbortSignal;
  /** How long after it has found views to remove it begins, milliseconds; 60,000 by default. */
  graceMs?: number;
}

/** Slower projectors write the version before for a while after a switch, and indexes answer from it. */
const graceMsDefault = 60_000;
/** Streams removed at the same time, and in a second. */
const streamsAtOnce = 25;
export const streamsPerSecondMax = 250;
/** Removed streams after which it is recorded how far the removal is. */
const streamsPerCheckpoint = 1_000;
/** A store that was not cleaned up shows a removed stream several times. */
const rememberedStreamsMax = 20_000;

/**
 * Removes what there is to remove now, through failures of the store, and ends. Killed anywhere, another run continues near
 * where it ended; two at a time do no harm.
 */
export async function removeUnreadViews(options: ViewRemovalOptions): Promise<void> {
  const done = new AbortController();
  const follower = createFollower({ ...options, name: 'remove-views' }, async (signal, gotOn) => {
    await removeOnce({ ...options, signal }, gotOn);
    done.abort();
  });
  await follower.run(AbortSignal.any([options.signal, done.signal]));
}

/** @throws StoreUnavailable; what the signal was aborted with */
async function removeOnce(options: ViewRemovalOptions, gotOn: () => void): Promise<void> {
  const { store, clock, log, signal, graceMs = graceMsDefault } = options;
  if ((await viewVersionsToRemove(store)).length === 0) return;
  await clock.sleep(graceMs, signal);
  const checkpoint = createCheckpoint({ ...options, stream: viewRemovalStream, schema: viewRemovalSchema });
  const known = (await checkpoint.read()) ?? nothingRemoved;
  const removing = await viewVersionsToRemove(store);
  const names = `the views of versions ${removing.join(', ')}`;
  log.info({ operation: 'remove-views' }, `${names} are removed: nobody reads them`);
  const from = removing.join() === known.removing.join() ? known.position : beginning;
  const count = await removeStreams({ ...options, from, removing }, async (position) => {
    gotOn();
    await checkpoint.replace({ ...known, removing, position });
  });
  signal.throwIfAborted();
  const removed = [...known.removed, ...removing];
  const recorded = await checkpoint.replace({ ...nothingRemoved, removed });
  if (recorded.kind === 'conflict') throw overtaken();
  log.info({ operation: 'remove-views', count }, `${names} are gone`);
}

/** Another remover has recorded something since: what is left is read again. */
const overtaken = () =>
  new TollgateError('checkpoint_contended', 'Another projector removes views, too.', { retryable: true });

/**
 * Removes the streams of view versions that have events after a position, no faster than `streamsPerSecondMax`.
 *
 * @returns how many
 */
async function removeStreams(
  { store, clock, signal, from, removing }: ViewRemovalOptions & { from: Position; removing: ViewVersion[] },
  onRemoved: (position: Position) => Promise<void>,
): Promise<number> {
  const recent = createRecentlyUsed<object>(rememberedStreamsMax);
  let streams: string[] = [];
  let count = 0;
  for await (const item of store.subscribe({ from, prefixes: removing.map(viewPrefixOf), signal })) {
    if (item.kind === 'event') {
      if (recent.has(item.stream)) continue;
      recent.set(item.stream, {});
      if (streams.push(item.stream) < streamsAtOnce) continue;
    }
    const begunAt = clock.monotonic();
    await Promise.all(streams.map((stream) => store.remove(stream)));
    count += streams.length;
    if (count % streamsPerCheckpoint === 0 && count > 0) await onRemoved(item.position);
    if (item.kind === 'caught-up') break;
    const earliestMs = (streams.length / streamsPerSecondMax) * 1_000;
    await clock.sleep(Math.max(0, earliestMs - (clock.monotonic() - begunAt)), signal);
    streams = [];
  }
  return count;
}
