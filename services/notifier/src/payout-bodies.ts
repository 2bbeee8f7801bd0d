/** The webhook body about a payout: one for every change of status, one for its approval, and one where another amount was paid out than was told. */
import { statusOfPayoutPhase, type PayoutPhase } from '@tollgate/payment-domain';
import type { PayoutView } from '@tollgate/views';
import { omitUndefined } from '@tollgate/service-kit';
import type { WebhookBody } from '@tollgate/gateway-api';

/** The specification's callback body; none if nothing is news. */
export function payoutBodies(before: PayoutView, { token, payout }: PayoutView): WebhookBody[] {
  const { phase, terms, declineReason } = payout;
  const status = statusOfPayoutPhase(phase);
  // An approval changes no status, and the team must learn that its repeat sends the payout now.
  const isNews =
    statusOfPayoutPhase(before.payout.phase) !== status ||
    isGranted(before, phase) ||
    // Still approved, but with another amount: the amount is the news.
    (status === 'approved' && before.payout.terms.amount !== terms.amount);
  if (!isNews) return [];
  const { orderNumber, amount, currency, metadata } = terms;
  return [
    {
      token,
      type: 'payout',
      status,
      orderNumber,
      amount,
      currency,
      ...omitUndefined({ metadata, declineReason }),
    },
  ];
}

const isGranted = (before: PayoutView, phase: PayoutPhase): boolean =>
  phase === 'approval_granted' && before.payout.phase === 'awaiting_approval';
