import type { Attempt } from '../domain/payment/payment-events.ts';
import type { CallWindow } from '../domain/outbound-call/outbound-call.ts';

/** Time limits of a call, milliseconds. */
export interface CallTimes {
  /** Maximum time from the announcement to the sending. An older announced call is never sent. */
  sendWithinMs: number;
  /** The client's deadline for one call. */
  callDeadlineMs: number;
  /** Maximum time that the provider may work on a received request, with a margin for slow networks. */
  quietMs: number;
}

/** From the announcement until absence proves that the call had no effect, milliseconds. */
export const quietPeriodMs = ({ sendWithinMs, callDeadlineMs, quietMs }: CallTimes): number =>
  sendWithinMs + callDeadlineMs + quietMs;

/** The window of a call announced at `now`. */
export function windowAt(now: number, times: CallTimes): CallWindow {
  const sendBy = now + times.sendWithinMs;
  const answerBy = sendBy + times.callDeadlineMs;
  return { sendBy, answerBy, quietUntil: answerBy + times.quietMs };
}

/** The order number at the provider, unique per attempt. */
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

/** Maximum wait of a caller for the outcome of a call, milliseconds. */
export const waitMaxMs = 5_000;
