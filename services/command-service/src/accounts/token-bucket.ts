import type { Clock } from '@tollgate/service-kit';

/** Lets so many things begin per second. */
export interface TokenBucket {
  /** Takes a token; false where less than `leave` would be left, in parts of a second's worth, and it is not full. */
  tryTake(leave?: number): boolean;
  /** Puts a token back that was not used. */
  giveBack(): void;
  /** Whole milliseconds until there is a token; 0 where there is one. */
  nextInMs(): number;
}

/** Each millisecond brings `tokensPerSecond` thousandths of a token. */
const token = 1_000;

/** A bucket that is full at first and holds one second's worth. @param tokensPerSecond may change */
export function createTokenBucket(
  tokensPerSecond: () => number,
  clock: Pick<Clock, 'monotonic'>,
): TokenBucket {
  // Less than one token could never be taken.
  const capacity = () => Math.max(1, tokensPerSecond()) * token;
  let level = capacity();
  let filledAt = clock.monotonic();

  function fill(): void {
    const now = clock.monotonic();
    level = Math.min(capacity(), level + (now - filledAt) * tokensPerSecond());
    filledAt = now;
  }
  return {
    tryTake(leave = 0) {
      fill();
      // Of very few per second no part can be left: what is full is enough.
      if (level < Math.min(token + leave * capacity(), capacity())) return false;
      level -= token;
      return true;
    },
    giveBack() {
      // What is too much runs over at the next filling.
      level += token;
    },
    nextInMs() {
      fill();
      return Math.max(0, Math.ceil((token - level) / tokensPerSecond()));
    },
  };
}
