/** An account at the Payment Service: whom we call, and how long we wait. */
import type { PaymentServiceClient } from '@tollgate/payment-api';
import type { Attempt } from '@tollgate/payment-domain';

export interface Account {
  name: string;
  client: PaymentServiceClient;
}

/** How long the steps of a call may take, milliseconds. */
export interface CallTimes {
  /** From the announcement to the sending, at most. An announced call that is older is never sent. */
  sendWithinMs: number;
  /** The client's deadline for one call. */
  callDeadlineMs: number;
  /** Longest that the service may go on working on a request that it has received, with a margin for slow networks. */
  quietMs: number;
}

export const defaultCallTimes: CallTimes = { sendWithinMs: 5_000, callDeadlineMs: 10_000, quietMs: 30_000 };

/** Attempt `number` of a payment, announced at `now`. */
export function planAttempt(
  token: string,
  options: { number: number; account: string; now: number; times: CallTimes },
): Attempt {
  const { number, account, now, times } = options;
  const sendBy = now + times.sendWithinMs;
  const answerBy = sendBy + times.callDeadlineMs;
  const quietUntil = answerBy + times.quietMs;
  return { number, account, providerOrderNumber: `${token}.${number}`, sendBy, answerBy, quietUntil };
}
