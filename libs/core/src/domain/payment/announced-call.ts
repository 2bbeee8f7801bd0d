/**
 * The calls that a payment's events announce. A money-moving call is made once, only by the process that appended its
 * announcement, and before its `sendBy`.
 */
import { InvariantViolation } from '../invariant.ts';
import { windowOf, type CallWindow } from '../outbound-call/outbound-call.ts';
import type { PaymentEvent } from './payment-events.ts';
import type { Payment } from './payment-state.ts';

export type AnnouncedCall = { account: string; window: CallWindow } & (
  | { operation: 'authorize'; attemptNumber: number; providerOrderNumber: string }
  | { operation: 'capture' | 'void'; submission: number }
  | { operation: 'refund'; refundToken: string; amount: number }
);

/**
 * The call that just appended events announce, or undefined if they announce none.
 *
 * @param payment after the events
 */
export function callAnnouncedBy(
  events: readonly PaymentEvent[],
  payment: Payment,
): AnnouncedCall | undefined {
  for (const event of events.toReversed()) {
    const call = announcedBy(event, payment);
    if (call !== undefined) return call;
  }
  return undefined;
}

function announcedBy(event: PaymentEvent, payment: Payment): AnnouncedCall | undefined {
  const { account } = payment.attempt;
  switch (event.type) {
    case 'PaymentRequested':
    case 'AttemptStarted': {
      const { number, providerOrderNumber } = event.data.attempt;
      const window = windowOf(event.data.attempt);
      return { operation: 'authorize', account, window, attemptNumber: number, providerOrderNumber };
    }
    case 'CaptureSubmitted':
    case 'VoidSubmitted': {
      if (payment.captureOrVoid === undefined)
        throw new InvariantViolation('a submission has no visible effect');
      const { operation, number } = payment.captureOrVoid;
      return { operation, account, window: windowOf(event.data), submission: number };
    }
    case 'RefundSubmitted': {
      const { refundToken, amount } = event.data;
      return { operation: 'refund', account, window: windowOf(event.data), refundToken, amount };
    }
    default:
      return undefined;
  }
}
