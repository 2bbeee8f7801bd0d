import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { Clock } from '@tollgate/service-kit';

interface Window {
  startedAt: number;
  current: number;
}

/**
 * Counts requests in windows that begin with a requester's first request. In the memory of this process, so each instance
 * allows as many; and over the end of a window up to twice as many come through in a moment.
 *
 * Of `requestersMax` requesters and one more, the one whose window began first is forgotten.
 *
 * The package's own counts go by the wall clock: where that is set back by an hour, a busy key stays refused for an hour.
 */
export function requestCountsOn(
  clock: Pick<Clock, 'monotonic'>,
  requestersMax: number,
): FastifyRateLimitStoreCtor {
  return class RequestCounts implements FastifyRateLimitStore {
    readonly #windows = new Map<string, Window>();

    incr(...[requester, callback, windowMs]: Parameters<FastifyRateLimitStore['incr']>): void {
      const now = clock.monotonic();
      const known = this.#windows.get(requester);
      const isOpen = known !== undefined && now < known.startedAt + windowMs;
      const window = isOpen ? known : this.#begin(requester, now);
      window.current += 1;
      callback(null, { current: window.current, ttl: window.startedAt + windowMs - now });
    }

    /** Kept in the order of their beginnings. */
    #begin(requester: string, now: number): Window {
      this.#windows.delete(requester);
      const [oldest] = this.#windows.keys();
      if (oldest !== undefined && this.#windows.size >= requestersMax) this.#windows.delete(oldest);
      const window = { startedAt: now, current: 0 };
      this.#windows.set(requester, window);
      return window;
    }

    child(): FastifyRateLimitStore {
      return new RequestCounts();
    }
  };
}
