import { isOpen } from '../attention.ts';
import { isFinalPhase } from './payment-machine.ts';
import { undecidedRefund, type Payment } from './payment-state.ts';

/**
 * Why a payment is looked at again: `unresolved`, because nobody knows what became of a call; `open`, because more is
 * expected to happen by itself.
 */
export const openWorks = ['unresolved', 'open'] as const;
export type OpenWork = (typeof openWorks)[number];

/** What is still to be found out about a payment; undefined where nothing is. */
export function openWorkOf(payment: Payment): OpenWork | undefined {
  const { phase } = payment;
  const refund = undecidedRefund(payment);
  if (phase === 'requested' || phase === 'unresolved' || phase === 'confirming' || phase === 'declining')
    return 'unresolved';
  if (refund !== undefined) return refund.state === 'accepted' ? 'open' : 'unresolved';
  return !isFinalPhase(phase) || isOpen(payment, 'callback_not_applied') ? 'open' : undefined;
}

/** From when on no call that was announced for the payment can take effect any more, milliseconds since the Unix epoch. */
export const latestQuietUntil = ({ attempt, twoStep, refunds }: Payment): number =>
  Math.max(attempt.quietUntil, twoStep?.quietUntil ?? 0, ...refunds.map(({ quietUntil }) => quietUntil));
