import { latestDeferredAt } from '../deferred-callback.ts';
import type { InquiryNeed } from '../failed-inquiry.ts';
import type { CallWindow } from '../outbound-call/outbound-call.ts';
import { isFinalPhase } from './payment-machine.ts';
import { isPaymentAwaited, undecidedRefund, type Payment } from './payment-state.ts';

export function inquiryNeedOf(payment: Payment): InquiryNeed {
  const { phase } = payment;
  const refund = undecidedRefund(payment);
  if (isPaymentAwaited(payment) || phase === 'capturing' || phase === 'voiding') return 'unresolved';
  if (payment.deferredCallbacks.length > 0) return 'unresolved';
  if (refund !== undefined) return refund.state === 'accepted' ? 'open' : 'unresolved';
  return isFinalPhase(phase) ? 'settled' : 'open';
}

/** After it, no announced call of the payment can take effect. */
const latestWindow = ({ attempt, captureOrVoid, refunds }: Payment): CallWindow =>
  latestOf([attempt, ...(captureOrVoid === undefined ? [] : [captureOrVoid]), ...refunds]) ?? attempt;

/**
 * From this time on, unknown outcomes can be known, milliseconds since the Unix epoch: no announced call can take effect any
 * longer, and no further callback waits.
 */
export const latestQuietUntil = (payment: Payment): number =>
  Math.max(latestWindow(payment).quietUntil, latestDeferredAt(payment));

/** The announced call whose outcome is unknown; at most one at a time. */
export function callWithoutOutcome(payment: Payment): CallWindow | undefined {
  const { phase, attempt, captureOrVoid } = payment;
  if (isPaymentAwaited(payment)) return attempt;
  if (phase === 'capturing' || phase === 'voiding') return captureOrVoid;
  const refund = undecidedRefund(payment);
  return refund?.state === 'accepted' ? undefined : refund;
}

const latestOf = (windows: readonly CallWindow[]): CallWindow | undefined =>
  windows.toSorted((a, b) => a.quietUntil - b.quietUntil).at(-1);
