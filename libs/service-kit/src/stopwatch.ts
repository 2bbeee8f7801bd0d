import type { Clock } from './clock.ts';

/**
 * The two clocks of a machine differ by more than this only after a suspension or a change of the wall clock. @unit
 * milliseconds
 */
const differenceMsMax = 1_000;

/**
 * Age in milliseconds; Infinity if the two clocks disagree. The monotonic clock may not count a suspension, and a changed
 * wall clock may hide it.
 */
export function startStopwatch(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  return () => {
    const wallMs = clock.now() - startedAt.wall;
    const monotonicMs = clock.monotonic() - startedAt.monotonic;
    return Math.abs(wallMs - monotonicMs) > differenceMsMax ? Infinity : Math.max(wallMs, monotonicMs);
  };
}
