/** Folds all views again from the events, and writes those that differ. The live projector continues meanwhile. */
import { beginning, type EventStore, type FailedStream, type RecordedEvent } from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { foldedPrefixes, createProjection } from '@tollgate/views';

export interface RebuildOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Stops it; a repeated rebuild starts from zero. */
  signal: AbortSignal;
  /** Called about once a second. */
  onProgress?: (progress: { eventsRead: number }) => void;
  batchEventsMax?: number;
  cachedViewsMax?: number;
}

export interface Rebuilt {
  eventsRead: number;
  /** Streams whose views could not be written: one of their events cannot be applied. */
  failedStreams: readonly FailedStream[];
}

const reportEveryMs = 1_000;

/** @throws StoreUnavailable; TollgateError `too_many_failed_streams`; the signal's reason */
export async function rebuild(options: RebuildOptions): Promise<Rebuilt> {
  const { store, clock, signal, onProgress = () => undefined } = options;
  // Large, because a batch writes each changed view once.
  const { batchEventsMax = 5_000, cachedViewsMax = 20_000 } = options;
  const projection = await createProjection({ ...options, cachedViewsMax, isRewriting: true }, []);
  let eventsRead = 0;
  let reportAt = clock.monotonic() + reportEveryMs;
  let batch: RecordedEvent[] = [];
  let underWay = Promise.resolve();
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  for await (const item of store.subscribe({ from: beginning, prefixes: foldedPrefixes, signal: until })) {
    if (item.kind === 'event' && batch.push(item) < batchEventsMax) continue;
    // The next batch is read while this one is written.
    await underWay;
    eventsRead += batch.length;
    underWay = projection.write(batch);
    underWay.catch(() => ending.abort());
    batch = [];
    if (item.kind === 'caught-up') break;
    if (clock.monotonic() < reportAt) continue;
    reportAt = clock.monotonic() + reportEveryMs;
    onProgress({ eventsRead });
  }
  ending.abort();
  await underWay;
  signal.throwIfAborted();
  return { eventsRead, failedStreams: projection.failedStreams() };
}
