import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import { type Clock, once } from '@tollgate/service-kit';
import { LRUCache } from 'lru-cache';

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
 * The package's own counts go by the wall clock: if that is set back by an hour, a busy key stays refused for an hour.
 */
export function requestCountsOn(
  clock: Pick<Clock, 'monotonic'>,
  requestersMax: number,
): FastifyRateLimitStoreCtor {
  return class RequestCounts implements FastifyRateLimitStore {
    // Only a beginning is a use, so that the one which began first is forgotten first. It takes its room when it is made, and few
    // of those that the package makes count anything.
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
