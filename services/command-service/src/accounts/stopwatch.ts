import type { Clock } from '@tollgate/service-kit';

/** A wall clock that falls behind the monotonic one by more than this has been set back, milliseconds. */
const setBackMs = 1_000;

/**
 * How long ago it was started, milliseconds, by that clock of this machine which says more: the monotonic clock may not
 * count a sleep. Infinity where the wall clock has been set back meanwhile: then neither tells of a sleep.
 */
export function startStopwatch(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  return () => {
    const wallMs = clock.now() - startedAt.wall;
    const monotonicMs = clock.monotonic() - startedAt.monotonic;
    return wallMs < monotonicMs - setBackMs ? Infinity : Math.max(wallMs, monotonicMs);
  };
}
