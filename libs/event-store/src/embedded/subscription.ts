import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { errorCode, type Log } from '@tollgate/service-kit';
import type { CaughtUp, RecordedEvent, SubscribeOptions } from '../event-store.ts';
import type { LoopShare } from '../follower/loop-share.ts';
import type { CommitWatch } from './commit-watch.ts';
import { fromPosition, toPosition } from './position.ts';
import type { Feed, FeedMember } from './feed.ts';
import type { Reader } from './reader.ts';
import type { Window } from './scanner.ts';

const pauseAfterFailureMs = 250;

interface Parts {
  reader: Reader;
  feed: Feed;
  commits: CommitWatch;
  share: LoopShare;
  log: Log;
}

/**
 * See `EventStore.subscribe`. Reads the file itself until it has caught up, so that it misses nothing that another process
 * has recorded by then; from there on it is fed with the others, but where it falls behind.
 */
export async function* subscription(
  { reader, feed, commits, share, log }: Parts,
  { from, prefixes, signal }: SubscribeOptions,
): AsyncGenerator<RecordedEvent | CaughtUp, void, void> {
  // A function, because the compiler does not know that a signal changes while this waits.
  const isAborted = () => signal.aborted;
  if (isAborted()) return;
  const scan = reader.scanner(prefixes);
  let scannedTo = fromPosition(from);
  let isEndReported = false;
  let member: FeedMember | undefined;
  const look = () => {
    const asOf = commits.count();
    return member?.since(scannedTo) ?? { ...scan(scannedTo), asOf };
  };
  try {
    while (!isAborted()) {
      const window = await scanUntilItWorks(look, { log, signal });
      if (window === undefined) return;
      isEndReported &&= window.scannedTo === scannedTo;
      scannedTo = window.scannedTo;
      // Not by a generator of its own: what is delegated costs a promise more for each event.
      for (const event of window.events) {
        if (isAborted()) return;
        yield event;
        const turn = share.giveWay();
        // Waits only where it must: a promise for each event costs more than it.
        if (turn !== undefined) await turn;
      }
      if (!window.isEnd) {
        await nextTurn();
        continue;
      }
      if (!isEndReported && !isAborted()) yield { kind: 'caught-up', position: toPosition(scannedTo) };
      isEndReported = true;
      member ??= feed.join(prefixes, scannedTo);
      await commits.after(window.asOf, signal);
    }
  } finally {
    member?.leave();
  }
}

/** Gives undefined when the signal is aborted first. */
async function scanUntilItWorks<Found extends Window>(
  scan: () => Found,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<Found | undefined> {
  while (!signal.aborted) {
    try {
      return scan();
    } catch (error) {
      log.warn(
        { code: errorCode(error) ?? '', error },
        'reading the event store failed, a subscription tries again',
      );
      // The timer is this adapter's own: a subscription must also recover under a clock that a test has stopped.
      await pause(pauseAfterFailureMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
  return undefined;
}
