/**
 * The present, as it counts for the window of an announced call. A window that was announced by a clock that ran ahead
 * begins in our future: from when this process first sees it, it holds the call for as long as it is, and not for as long
 * as that clock was wrong. While this process does not know the time, no window is over.
 */
import type { CallWindow } from '@tollgate/payment-domain';
import type { Clock } from '@tollgate/service-kit';
import type { CallTimes } from './call-times.ts';

export interface WindowClock {
  /**
   * Milliseconds since the Unix epoch, to be compared with this window only: for another window, which an honest clock has
   * announced, it may be far ahead. Without a window it is now.
   */
  nowFor(token: string, window: Pick<CallWindow, 'sendBy'> | undefined): number;
}

/** Windows from the future that are remembered; the one that was asked for longest ago is forgotten, and seen anew. */
const rememberedMax = 100_000;

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
  // Monotonic, in the order in which they were last asked for.
  const firstSeenAt = new Map<string, number>();

  function remember(key: string): number {
    const seenAt = firstSeenAt.get(key) ?? clock.monotonic();
    firstSeenAt.delete(key);
    firstSeenAt.set(key, seenAt);
    const [oldest] = firstSeenAt.keys();
    if (firstSeenAt.size > rememberedMax && oldest !== undefined) firstSeenAt.delete(oldest);
    return seenAt;
  }

  function presentOf(window: Pick<CallWindow, 'sendBy'> | undefined): number {
    const now = clock.now();
    return window === undefined || isTimeKnown() ? now : Math.min(now, window.sendBy);
  }

  return {
    nowFor(token, window) {
      const now = presentOf(window);
      if (window === undefined || window.sendBy - times.sendWithinMs <= now) return now;
      const announcedAt = window.sendBy - times.sendWithinMs;
      return announcedAt + clock.monotonic() - remember(`${token}/${window.sendBy}`);
    },
  };
}
