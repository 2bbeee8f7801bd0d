/** When a webhook is tried again: ten tries within about three days, as Standard Webhooks recommends. */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses after the first to the ninth failure; after the tenth it is given up. */
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

/** Added to a pause at most, as a part of it. Never subtracted: no try comes before its time. */
const jitterMax = 0.1;

/** The instant of the next try after so many failures in a row, from 1; undefined where there is none. */
export function nextTryAfter(failuresInRow: number, now: number, fraction: number): number | undefined {
  const pauseMs = retryPausesMs[failuresInRow - 1];
  return pauseMs === undefined ? undefined : now + Math.round(pauseMs * (1 + jitterMax * fraction));
}
