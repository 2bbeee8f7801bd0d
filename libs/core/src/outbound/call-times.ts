import type { Attempt } from '../domain/payment/payment-events.ts';
import type { CallWindow } from '../domain/outbound-call/outbound-call.ts';

/** How long the steps of a call may take, milliseconds. */
export interface CallTimes {
  /** From the announcement to the sending, at most. An announced call that is older is never sent. */
  sendWithinMs: number;
  /** The client's deadline for one call. */
  callDeadlineMs: number;
  /** Longest that the service may keep working on a request that it has received, with a margin for slow networks. */
  quietMs: number;
}

/** From the announcement until absence proves that the call had no effect, milliseconds. */
export const quietPeriodMs = ({ sendWithinMs, callDeadlineMs, quietMs }: CallTimes): number =>
  sendWithinMs + callDeadlineMs + quietMs;

/** The window of a call that is announced at `now`. */
export function windowAt(now: number, times: CallTimes): CallWindow {
  const sendBy = now + times.sendWithinMs;
  const answerBy = sendBy + times.callDeadlineMs;
  return { sendBy, answerBy, quietUntil: answerBy + times.quietMs };
}

/** What the service knows a call by that has made something: unique for every attempt. */
export const providerOrderNumber = (token: string, attemptNumber: number): string =>
  `${token}.${attemptNumber}`;

/** Attempt `number` of a payment, announced at `now`. */
export const planAttempt = (
  token: string,
  options: { number: number; account: string; now: number; times: CallTimes },
): Attempt => ({
  number: options.number,
  account: options.account,
  providerOrderNumber: providerOrderNumber(token, options.number),
  ...windowAt(options.now, options.times),
});

/** How long a caller waits for the outcome of a call, milliseconds. */
export const waitMaxMs = 5_000;
