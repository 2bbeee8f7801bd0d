/** What a team is told about its payout: every other status. */
import { statusOfPayoutPhase } from '@tollgate/payment-domain';
import type { PayoutView } from '@tollgate/views';
import { given } from '@tollgate/service-kit';
import type { WebhookBody } from './webhook-events.ts';

/** The specification's callback body, where a change is told; none where the status is the same. */
export function payoutBodies(before: PayoutView, { token, payout }: PayoutView): WebhookBody[] {
  const { phase, terms, declineReason } = payout;
  const status = statusOfPayoutPhase(phase);
  if (statusOfPayoutPhase(before.payout.phase) === status) return [];
  const { orderNumber, amount, currency } = terms;
  return [{ token, type: 'payout', status, orderNumber, amount, currency, ...given({ declineReason }) }];
}
