/** What calls and inquiries of an account have together, where its provider counts both. Neither keeps the other out. */
import type { Clock } from '@tollgate/service-kit';
import { createTokenBucket } from './token-bucket.ts';

export interface SharedRate {
  /** For a call that moves money. */
  tryTakeForCall(): boolean;
  /** For an inquiry; false is to be followed by another try within {@link inquiryRetryMs}, while it is still wanted. */
  tryTakeForInquiry(): boolean;
  /** Puts a token back that was not used. */
  giveBack(): void;
  /** Whole milliseconds until there may be a token for a call; 0 where there is one. */
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
