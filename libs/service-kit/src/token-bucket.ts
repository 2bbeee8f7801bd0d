/** Limits the calls, and the inquiries, per second of an account. */
import type { Clock } from './clock.ts';

/** Each millisecond adds `tokensPerSecond` thousandths of a token. */
const token = 1_000;

/** A token bucket that starts full and holds one second's worth. @param tokensPerSecond may change */
export function createTokenBucket(tokensPerSecond: () => number, clock: Pick<Clock, 'monotonic'>) {
  // A bucket below one token could never be used.
  const capacity = () => Math.max(1, tokensPerSecond()) * token;
  let level = capacity();
  let filledAt = clock.monotonic();

  function fill(): void {
    const now = clock.monotonic();
    level = Math.min(capacity(), level + (now - filledAt) * tokensPerSecond());
    filledAt = now;
  }
  return {
    tryTake() {
      fill();
      if (level < token) return false;
      level -= token;
      return true;
    },
    /** Returns an unused token. */
    giveBack() {
      // Overflow is cut at the next filling.
      level += token;
    },
    /** Whole milliseconds until the next token; 0 if there is one. */
    nextInMs() {
      fill();
      return Math.max(0, Math.ceil((token - level) / tokensPerSecond()));
    },
  };
}
