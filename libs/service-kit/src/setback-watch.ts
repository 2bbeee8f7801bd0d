import type { Clock } from './clock.ts';

/** Clocks that go back by less are corrected all the time, milliseconds. */
const setbackMs = 60_000;

/**
 * Gives the function that tells whether the clock was set back since it was asked before: what was put off by its time is due
 * too late then. The first answer is no.
 */
export function createSetbackWatch(clock: Pick<Clock, 'now' | 'monotonic'>): () => boolean {
  let asked: { now: number; monotonic: number } | undefined;
  return () => {
    const before = asked;
    asked = { now: clock.now(), monotonic: clock.monotonic() };
    if (before === undefined) return false;
    return asked.now < before.now + (asked.monotonic - before.monotonic) - setbackMs;
  };
}
