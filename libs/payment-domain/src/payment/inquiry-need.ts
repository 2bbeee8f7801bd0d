import { latestDeferredAt } from '../deferred-callback.ts';
import type { InquiryNeed } from '../failed-inquiry.ts';
import { isFinalPhase } from './payment-machine.ts';
import { isPaymentAwaited, undecidedRefund, type Payment } from './payment-state.ts';

/** Why a payment is inquired again. */
export function inquiryNeedOf(payment: Payment): InquiryNeed {
  const { phase } = payment;
  const refund = undecidedRefund(payment);
  if (isPaymentAwaited(payment) || phase === 'capturing' || phase === 'voiding') return 'unresolved';
  if (payment.deferredCallbacks.length > 0) return 'unresolved';
  if (refund !== undefined) return refund.state === 'accepted' ? 'open' : 'unresolved';
  return isFinalPhase(phase) ? 'settled' : 'open';
}

/**
 * From when on what is unknown could be known, milliseconds since the Unix epoch: no announced call can take effect any
 * more, and no further callback waits.
 */
export const latestQuietUntil = (payment: Payment): number =>
  [payment.attempt, payment.captureOrVoid, ...payment.refunds].reduce(
    (latest, call) => Math.max(latest, call?.quietUntil ?? 0),
    latestDeferredAt(payment),
  );
