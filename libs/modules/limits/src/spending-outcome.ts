/** What became of something that was reserved under a limit. */
import {
  type Payment,
  type Payout,
  statusOfPayoutPhase,
  statusOfPhase,
  type Payments,
  type Payouts,
  isPayoutToken,
} from '@tollgate/core';
import type { AmountReserved } from './spending-day.ts';

export interface SpendingOutcomes {
  payments: Pick<Payments, 'load'>;
  payouts: Pick<Payouts, 'load'>;
}

/** `open`: it counts, and may yet come to nothing. */
export type SpendingOutcome = 'stays' | 'nothing' | 'open';

/** @throws StoreUnavailable */
export async function outcomeOf(
  { payments, payouts }: SpendingOutcomes,
  { token, subject }: AmountReserved,
  hasLapsed: boolean,
): Promise<SpendingOutcome> {
  const unless = hasLapsed ? 'nothing' : 'open';
  if (isPayoutToken(subject)) return ofPayout((await payouts.load(subject))?.payout, unless);
  const payment = (await payments.load(subject))?.payment;
  return token === subject ? ofPayment(payment, unless) : ofRefund(payment, token, unless);
}

function ofPayment(payment: Payment | undefined, unless: SpendingOutcome): SpendingOutcome {
  if (payment === undefined) return unless;
  const status = statusOfPhase(payment.phase);
  if (status === 'init' || status === 'pending') return 'open';
  return status === 'declined' || status === 'expired' ? 'nothing' : 'stays';
}

function ofPayout(payout: Payout | undefined, unless: SpendingOutcome): SpendingOutcome {
  if (payout === undefined) return unless;
  const status = statusOfPayoutPhase(payout.phase);
  if (status === 'pending') return 'open';
  return status === 'declined' ? 'nothing' : 'stays';
}

function ofRefund(payment: Payment | undefined, token: string, unless: SpendingOutcome): SpendingOutcome {
  const refund = payment?.refunds.find(({ refundToken }) => refundToken === token);
  if (refund === undefined) return unless;
  if (refund.state === 'approved') return 'stays';
  return refund.state === 'declined' ? 'nothing' : 'open';
}
