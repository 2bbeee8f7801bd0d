import type { Clock } from '@tollgate/service-kit';

/** Lets so many things begin per second. */
export interface TokenBucket {
  /** Takes a token; false where there is none. */
  tryTake(): boolean;
  /** Puts a token back that was not used. */
  giveBack(): void;
  /** Whole milliseconds until there is a token; 0 where there is one. */
  nextInMs(): number;
}

/** Counting thousandths of a token keeps the sums whole: each millisecond brings `tokensPerSecond` of them. */
const token = 1_000;

/** A bucket that is full at first and holds one second's worth. */
export function createTokenBucket(tokensPerSecond: number, clock: Pick<Clock, 'monotonic'>): TokenBucket {
  const capacity = tokensPerSecond * token;
  let level = capacity;
  let filledAt = clock.monotonic();

  function fill(): void {
    const now = clock.monotonic();
    level = Math.min(capacity, level + (now - filledAt) * tokensPerSecond);
    filledAt = now;
  }
  return {
    tryTake() {
      fill();
      if (level < token) return false;
      level -= token;
      return true;
    },
    giveBack() {
      // What is too much runs over at the next filling.
      level += token;
    },
    nextInMs() {
      fill();
      return Math.max(0, Math.ceil((token - level) / tokensPerSecond));
    },
  };
}
