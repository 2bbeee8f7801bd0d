import type { Clock } from '@tollgate/service-kit';

/**
 * How long ago it was started, milliseconds, by that clock of this machine which says more: the monotonic clock may not
 * count a sleep, and the wall clock may have been set back.
 */
export function startStopwatch(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  return () => Math.max(clock.now() - startedAt.wall, clock.monotonic() - startedAt.monotonic);
}
