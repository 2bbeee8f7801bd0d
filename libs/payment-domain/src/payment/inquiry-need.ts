import { isOpen } from '../review.ts';
import { isFinalPhase } from './payment-machine.ts';
import { undecidedRefund, type Payment } from './payment-state.ts';

/**
 * Why a payment is looked at again: `unresolved`, because nobody knows what became of a call; `open`, because more is
 * expected to happen by itself.
 */
export const inquiryNeeds = ['unresolved', 'open'] as const;
export type InquiryNeed = (typeof inquiryNeeds)[number];

/** What is still to be found out about a payment; undefined where nothing is. */
export function inquiryNeedOf(payment: Payment): InquiryNeed | undefined {
  const { phase } = payment;
  const refund = undecidedRefund(payment);
  if (phase === 'requested' || phase === 'unresolved' || phase === 'capturing' || phase === 'voiding')
    return 'unresolved';
  if (refund !== undefined) return refund.state === 'accepted' ? 'open' : 'unresolved';
  return !isFinalPhase(phase) || isOpen(payment, 'callback_not_applied') ? 'open' : undefined;
}

/** From when on no call that was announced for the payment can take effect any more, milliseconds since the Unix epoch. */
export const latestQuietUntil = ({ attempt, captureOrVoid, refunds }: Payment): number =>
  Math.max(
    attempt.quietUntil,
    captureOrVoid?.quietUntil ?? 0,
    ...refunds.map(({ quietUntil }) => quietUntil),
  );
