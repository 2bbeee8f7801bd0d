import type { Clock } from '@tollgate/service-kit';

/** By more than this the two clocks of a machine differ only where it slept or the wall clock was set, milliseconds. */
const differenceMsMax = 1_000;

/**
 * How long ago it was started, milliseconds. Infinity where the two clocks of this machine do not agree: the monotonic one
 * may not count a sleep, and a wall clock that was set meanwhile may hide a part of it.
 */
export function startStopwatch(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  return () => {
    const wallMs = clock.now() - startedAt.wall;
    const monotonicMs = clock.monotonic() - startedAt.monotonic;
    return Math.abs(wallMs - monotonicMs) > differenceMsMax ? Infinity : Math.max(wallMs, monotonicMs);
  };
}
