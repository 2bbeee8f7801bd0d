/** Limits the calls and inquiries of an account per second. */
import type { Clock } from '@tollgate/service-kit';

/** Lets so many things begin per second. */
export interface TokenBucket {
  /** Takes a token; false where less than `leave` would be left, in parts of a second's worth, and it is not full. */
  tryTake(leave?: number): boolean;
  /** Puts a token back that was not used. */
  giveBack(): void;
  /** Whole milliseconds until there is a token; 0 if there is one. */
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

/** Shared by the calls and inquiries of an account whose provider counts both. Neither keeps the other out. */
export interface SharedRate {
  /** For a call that moves money. */
  tryTakeForCall(): boolean;
  /** For an inquiry; false is to be followed by another try within {@link inquiryRetryMs}, while it is still wanted. */
  tryTakeForInquiry(): boolean;
  /** Puts a token back that was not used. */
  giveBack(): void;
  /** Whole milliseconds until there may be a token for a call; 0 if there is one. */
  nextForCallInMs(): number;
}

/** When an inquiry without a token tries again, milliseconds. */
export const inquiryRetryMs = 50;
/** The part of a second's worth that inquiries leave to calls. */
const leftToCalls = 1 / 4;
/** Where calls would take all, an inquiry that waits goes after so many of them. */
const callsBeforeInquiry = 9;

/** @param tokensPerSecond may change */
export function createSharedRate(tokensPerSecond: () => number, clock: Pick<Clock, 'monotonic'>): SharedRate {
  const bucket = createTokenBucket(tokensPerSecond, clock);
  let refusedAt = -Infinity;
  let callsMeanwhile = 0;
  const isInquiryWanted = () => clock.monotonic() - refusedAt <= 2 * inquiryRetryMs;
  const isInquiryNext = () => callsMeanwhile >= callsBeforeInquiry && isInquiryWanted();
  return {
    tryTakeForCall() {
      if (isInquiryNext() || !bucket.tryTake()) return false;
      callsMeanwhile = isInquiryWanted() ? callsMeanwhile + 1 : 0;
      return true;
    },
    tryTakeForInquiry() {
      const isTaken = bucket.tryTake(isInquiryNext() ? 0 : leftToCalls);
      refusedAt = isTaken ? -Infinity : clock.monotonic();
      if (isTaken) callsMeanwhile = 0;
      return isTaken;
    },
    giveBack: () => bucket.giveBack(),
    nextForCallInMs: () => (isInquiryNext() ? inquiryRetryMs : bucket.nextInMs()),
  };
}
