import { isOpen } from '../review.ts';
import type { InquiryNeed } from '../failed-inquiry.ts';
import { isFinalPhase } from './payment-machine.ts';
import { isPaymentAwaited, undecidedRefund, type Payment } from './payment-state.ts';

/** Why a payment is inquired again; undefined where everything is known. */
export function inquiryNeedOf(payment: Payment): InquiryNeed | undefined {
  const { phase } = payment;
  const refund = undecidedRefund(payment);
  if (isPaymentAwaited(payment) || phase === 'capturing' || phase === 'voiding') return 'unresolved';
  if (refund !== undefined) return refund.state === 'accepted' ? 'open' : 'unresolved';
  return !isFinalPhase(phase) || isOpen(payment, 'callback_not_applied') ? 'open' : undefined;
}

/** From when on no announced call of the payment can take effect any more, milliseconds since the Unix epoch. */
export const latestQuietUntil = ({ attempt, captureOrVoid, refunds }: Payment): number =>
  [attempt, captureOrVoid, ...refunds].reduce((latest, call) => Math.max(latest, call?.quietUntil ?? 0), 0);
