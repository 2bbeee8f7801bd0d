/** When a webhook is retried: ten attempts within about three days, as Standard Webhooks recommends. */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses after the first to the ninth failure; after the tenth it is abandoned. */
export const retryPausesMs: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** Maximum jitter, as a fraction of a pause. Never subtracted: no attempt is early. */
const jitterMax = 0.1;

/** The time of the next attempt after this many consecutive failures, from 1; undefined after the last. */
export function nextTryAfter(failuresInRow: number, now: number, fraction: number): number | undefined {
  const pauseMs = retryPausesMs[failuresInRow - 1];
  return pauseMs === undefined ? undefined : now + Math.round(pauseMs * (1 + jitterMax * fraction));
}
