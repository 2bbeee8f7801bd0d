/** Limits the calls and inquiries per second of an account. */
import type { Clock } from '@tollgate/service-kit';

/** Token bucket. */
export interface TokenBucket {
  /** Takes a token; false if fewer than `leave` would remain, in parts of a second's worth, and the bucket is not full. */
  tryTake(leave?: number): boolean;
  /** Returns an unused token. */
  giveBack(): void;
  /** Whole milliseconds until the next token; 0 if there is one. */
  nextInMs(): number;
}

/** Each millisecond adds `tokensPerSecond` thousandths of a token. */
const token = 1_000;

/** A bucket that starts full and holds one second's worth. @param tokensPerSecond may change */
export function createTokenBucket(
  tokensPerSecond: () => number,
  clock: Pick<Clock, 'monotonic'>,
): TokenBucket {
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
    tryTake(leave = 0) {
      fill();
      // At a very low rate there is no part to leave: a full bucket is enough.
      if (level < Math.min(token + leave * capacity(), capacity())) return false;
      level -= token;
      return true;
    },
    giveBack() {
      // Overflow is cut at the next filling.
      level += token;
    },
    nextInMs() {
      fill();
      return Math.max(0, Math.ceil((token - level) / tokensPerSecond()));
    },
  };
}

/** Shared by the calls and inquiries of an account whose provider counts both. Neither starves the other. */
export interface SharedRate {
  tryTakeForCall(): boolean;
  /** For an inquiry; if false, retry within {@link inquiryRetryMs} while it is still needed. */
  tryTakeForInquiry(): boolean;
  /** Returns an unused token. */
  giveBack(): void;
  /** Whole milliseconds until the next token for a call; 0 if there may be one. */
  nextForCallInMs(): number;
}

/** Retry of an inquiry without a token. @unit milliseconds */
export const inquiryRetryMs = 50;
/** The part of a second's worth that inquiries leave to calls. */
const leftToCalls = 1 / 4;
/** If calls would take all, a waiting inquiry is admitted after this many of them. */
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
