/**
 * The present, as it counts for the window of an announced call. A window that was announced by a clock that ran ahead
 * begins in our future: from when this process first sees it, it holds the call for as long as it is, and not for as long
 * as that clock was wrong. While this process does not know the time, no window is over.
 */
import type { CallWindow, Taken } from '@tollgate/payment-domain';
import type { Clock } from '@tollgate/service-kit';
import type { CallTimes } from './call-times.ts';

export interface WindowClock {
  /**
   * Milliseconds since the Unix epoch, to be compared with this window only: for another window, which an honest clock has
   * announced, it may be far ahead. Without a window it is now.
   */
  nowFor(token: string, window: Pick<CallWindow, 'sendBy'> | undefined): number;
  /**
   * Of an inquiry that begins now, and of what had changed then; both by the clock that announced this window. What a clock that ran ahead
   * recorded has changed when this process first saw it.
   */
  takenFor(token: string, window: Pick<CallWindow, 'sendBy'> | undefined, changedAt: number): Taken;
  /**
   * How far the clock that announced the window runs ahead of ours, milliseconds; 0 for an honest one. It is what a time that
   * the provider shows is moved by before it is compared with the window: whether ours is known does not matter.
   */
  aheadMsOf(token: string, window: Pick<CallWindow, 'sendBy'>): number;
}

/** Windows from the future that are remembered, and as many changes; the least recently used one is forgotten, and counts as new when seen again. */
const rememberedMax = 100_000;

/** When each was first asked for, on the monotonic clock; in the order in which they were last asked for. */
function createFirstSeen(clock: Pick<Clock, 'monotonic'>): (key: string) => number {
  const firstSeenAt = new Map<string, number>();
  return (key) => {
    const seenAt = firstSeenAt.get(key) ?? clock.monotonic();
    firstSeenAt.delete(key);
    firstSeenAt.set(key, seenAt);
    const [oldest] = firstSeenAt.keys();
    if (firstSeenAt.size > rememberedMax && oldest !== undefined) firstSeenAt.delete(oldest);
    return seenAt;
  };
}

export function createWindowClock({
  clock,
  times,
  isTimeKnown = () => true,
}: {
  clock: Pick<Clock, 'now' | 'monotonic'>;
  times: Pick<CallTimes, 'sendWithinMs'>;
  /** False from when this machine may have slept, or its clock was set, until its time is that of the store again. */
  isTimeKnown?: () => boolean;
}): WindowClock {
  const windows = createFirstSeen(clock);
  const changes = createFirstSeen(clock);

  function aheadMsOf(token: string, { sendBy }: Pick<CallWindow, 'sendBy'>): number {
    const [now, announcedAt] = [clock.now(), sendBy - times.sendWithinMs];
    if (announcedAt <= now) return 0;
    return announcedAt + clock.monotonic() - windows(`${token}/${sendBy}`) - now;
  }

  /** Of what is in our future: since this process first saw it. */
  function sinceMs(token: string, changedAt: number): number {
    const now = clock.now();
    return changedAt <= now ? now - changedAt : clock.monotonic() - changes(`${token}/${changedAt}`);
  }

  function nowFor(token: string, window: Pick<CallWindow, 'sendBy'> | undefined): number {
    const now = clock.now();
    if (window === undefined) return now;
    const present = now + aheadMsOf(token, window);
    return isTimeKnown() ? present : Math.min(present, window.sendBy);
  }

  return {
    aheadMsOf,
    nowFor,
    takenFor(token, window, changedAt) {
      const present = clock.now() + (window === undefined ? 0 : aheadMsOf(token, window));
      return { inquiredAt: nowFor(token, window), changedAt: present - sinceMs(token, changedAt) };
    },
  };
}
