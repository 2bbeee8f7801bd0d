import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import { type Clock, once } from '@tollgate/service-kit';
import { LRUCache } from 'lru-cache';

interface Window {
  startedAt: number;
  current: number;
}

/**
 * Counts requests in windows that begin with a requester's first request. In memory of this process: each instance has the full
 * limit, and up to twice as many may pass around the end of a window.
 *
 * Of `requestersMax` requesters and one more, the oldest window is dropped.
 *
 * The package's own counts use the wall clock: if that is set back by an hour, a busy key stays refused for an hour.
 */
export function requestCountsOn(
  clock: Pick<Clock, 'monotonic'>,
  requestersMax: number,
): FastifyRateLimitStoreCtor {
  return class RequestCounts implements FastifyRateLimitStore {
    // Only a new window counts as a use, so that the oldest is dropped first. A store allocates its capacity when created, and
    // few of the package's stores count anything.
    readonly #windows = once(() => new LRUCache<string, Window>({ max: requestersMax }));

    incr(...[requester, callback, windowMs]: Parameters<FastifyRateLimitStore['incr']>): void {
      const now = clock.monotonic();
      const known = this.#windows().peek(requester);
      const isOpen = known !== undefined && now < known.startedAt + windowMs;
      const window = isOpen ? known : { startedAt: now, current: 0 };
      if (!isOpen) this.#windows().set(requester, window);
      window.current += 1;
      callback(null, { current: window.current, ttl: window.startedAt + windowMs - now });
    }

    child(): FastifyRateLimitStore {
      return new RequestCounts();
    }
  };
}
