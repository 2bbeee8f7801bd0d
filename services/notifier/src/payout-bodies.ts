/** The webhook body about a payout: one for every change of status. */
import { statusOfPayoutPhase } from '@tollgate/payment-domain';
import type { PayoutView } from '@tollgate/views';
import { given } from '@tollgate/service-kit';
import type { WebhookBody } from '@tollgate/gateway-api';

/** The specification's callback body; none if the status is unchanged. */
export function payoutBodies(before: PayoutView, { token, payout }: PayoutView): WebhookBody[] {
  const { phase, terms, declineReason } = payout;
  const status = statusOfPayoutPhase(phase);
  if (statusOfPayoutPhase(before.payout.phase) === status) return [];
  const { orderNumber, amount, currency } = terms;
  return [{ token, type: 'payout', status, orderNumber, amount, currency, ...given({ declineReason }) }];
}
