import type { EventStoreDBClient } from '@eventstore/db-client';
import type { Log } from '@tollgate/service-kit';
import type { CaughtUp, Position, RecordedEvent, SubscribeOptions } from '../event-store.ts';
import { type Feed, openFeed } from './feed.ts';
import type { HeadWatch } from './head-watch.ts';
import { fromPosition } from './position.ts';
import type { Reads } from './reading.ts';
import { fromClientError, storeTimedOut } from './store-failure.ts';
import { type Wait, aborted, elapsed, firstOf, pause } from '../waits.ts';

const pauseAfterFailureMs = 250;
/** A subscription that has delivered nothing for this long is checked. */
const quietMs = 5;
/** A known event that the subscription has not delivered for this long will not arrive. */
const lateMsDefault = 2_000;
/** A server that is slow each time is waited for twice as long the next time, up to so often the first. */
const patienceMax = 32;
/** Events read ahead past the last delivered one. The server reports its position at least every 32 events that it skips. */
const lookEventsMax = 64;

export interface Parts {
  client: EventStoreDBClient;
  reads: Reads;
  heads: HeadWatch;
  log: Log;
  /** How long an event may be late before the subscription is mistaken for dead, milliseconds; 2,000 by default. */
  lateMs?: number | undefined;
}

/** Progress of the consumer, over all client subscriptions that it takes. */
interface Progress {
  /** Everything up to here was handled, or need not be delivered. */
  position: Position;
  /** Of the last `CaughtUp`. */
  reportedEnd: Position | undefined;
  /** How often as long as usual an event may be late. */
  patience: number;
}

/**
 * See `EventStore.subscribe`: one subscription at the server. Any end of the client's subscription, with an error, without one,
 * or silent, is followed by a new one from the consumer's position.
 */
export async function* subscription(
  parts: Parts,
  { from, prefixes, signal }: SubscribeOptions,
): AsyncGenerator<RecordedEvent | CaughtUp, void, void> {
  // A position of another kind of store is refused at once.
  fromPosition(from);
  const progress: Progress = { position: from, reportedEnd: undefined, patience: 1 };
  // A function, because the compiler assumes that a signal does not change during an await.
  const isAborted = () => signal.aborted;
  let failedAt: Position | undefined;
  while (!isAborted()) {
    const begunAt = progress.position;
    const feed = openFeed(parts.client, { after: begunAt, prefixes });
    try {
      yield* follow(parts, feed, { progress, prefixes, signal });
    } catch (error) {
      const failure = fromClientError(error);
      const fields = { code: failure.code, error: failure, position: progress.position };
      // Servers up to 23.10 drop subscriptions that lag by 32 events, often under load; this is no fault.
      const isDropped = failure.code === storeTimedOut && progress.position > begunAt;
      if (isDropped) parts.log.debug(fields, 'a subscription was too slow; it is restarted');
      else {
        // Each subscription logs once that the store is unavailable; the watch of its end logs the return.
        const level = failedAt === progress.position ? 'debug' : 'warn';
        failedAt = progress.position;
        parts.log[level](fields, 'a subscription failed; it is restarted');
        await pause(pauseAfterFailureMs, signal);
      }
    } finally {
      feed.close();
    }
  }
}

interface Following {
  progress: Progress;
  prefixes: readonly string[];
  signal: AbortSignal;
}

/** Delivers the events of a feed until it ends, and reports when the end of the log is reached. */
async function* follow(
  parts: Parts,
  feed: Feed,
  { progress, prefixes, signal }: Following,
): AsyncGenerator<RecordedEvent | CaughtUp, void, void> {
  const { heads } = parts;
  // The head that was last seen may be older than this subscription.
  heads.announce(await parts.reads.head());
  const lateness = createLateness((parts.lateMs ?? lateMsDefault) * progress.patience);
  const isAborted = () => signal.aborted;
  while (!isAborted()) {
    const event = feed.take();
    if (event !== undefined) {
      if (event.position <= progress.position) continue;
      yield event;
      progress.position = event.position;
      progress.patience = 1;
      continue;
    }
    // Everything before the server's report has been handled by now.
    advance(progress, feed.checkpoint());
    const end = feed.ended();
    if (end !== undefined && 'error' in end) throw end.error;
    // An end without an error is one that the server wanted.
    if (end !== undefined) return;
    if (await isChangedWithin(feed, quietMs, signal)) continue;
    const missing = await lookAhead(parts, progress, prefixes);
    if (isAborted()) return;
    if (lateness.isTooLate(missing)) {
      progress.patience = Math.min(2 * progress.patience, patienceMax);
      throw new Error('The subscription is silent, although an undelivered event exists.');
    }
    const head = heads.head();
    const isAtEnd = missing === undefined && head !== undefined && progress.position >= head;
    if (isAtEnd && progress.reportedEnd !== progress.position) {
      progress.reportedEnd = progress.position;
      // Only a scavenge omits events, and none affects recent ones.
      yield { kind: 'caught-up', position: progress.position };
      continue;
    }
    await untilNews(feed, isAtEnd ? heads : undefined, progress.position, signal);
  }
}

function advance(progress: Progress, position: Position | undefined): void {
  if (position !== undefined && position > progress.position) progress.position = position;
}

/**
 * Moves the progress over events that need not be delivered, which the server reports only occasionally.
 *
 * @returns the position of an event that must be delivered, and which the feed has not delivered yet
 * @throws StoreUnavailable
 */
async function lookAhead(
  { reads, heads }: Parts,
  progress: Progress,
  prefixes: readonly string[],
): Promise<Position | undefined> {
  // Mostly the next one is wanted, and late: a longer read would be cancelled each time.
  for (const eventsMax of [1, lookEventsMax]) {
    const head = heads.head();
    if (head === undefined || head <= progress.position) return undefined;
    for await (const { stream, position, isTombstone } of reads.allAfter(progress.position, eventsMax)) {
      if (!isTombstone && isWanted(stream, prefixes)) return position;
      advance(progress, position);
      heads.announce(position);
    }
  }
  return undefined;
}

const isWanted = (stream: string, prefixes: readonly string[]) =>
  !stream.startsWith('$') && prefixes.some((prefix) => stream.startsWith(prefix));

/** Detects that one and the same event is missing for too long. */
function createLateness(lateMs: number) {
  let missing: { position: Position; since: number } | undefined;
  return {
    isTooLate: (position: Position | undefined): boolean => {
      if (position !== undefined && position === missing?.position)
        return performance.now() - missing.since >= lateMs;
      missing = position === undefined ? undefined : { position, since: performance.now() };
      return false;
    },
  };
}

/** Interval between checks of a lagging subscription. */
const behindPollMs = 50;

function untilNews(
  feed: Feed,
  heads: HeadWatch | undefined,
  position: Position,
  signal: AbortSignal,
): Promise<void> {
  const news = heads === undefined ? elapsed(behindPollMs) : heads.beyond(position);
  return firstOf(feed.changed, news, aborted(signal));
}

async function isChangedWithin(feed: Feed, waitMs: number, signal: AbortSignal): Promise<boolean> {
  let isQuiet = false;
  const quiet: Wait = (done) =>
    elapsed(waitMs)(() => {
      isQuiet = true;
      done();
    });
  await firstOf(feed.changed, quiet, aborted(signal));
  return !isQuiet;
}
