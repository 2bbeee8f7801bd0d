/** The truth of the sandbox: the actual state of a merchant's payments, and its calls. */
import { toIsoTime, toServiceDispute } from './answers.ts';
import type { Payment } from './payments.ts';
import type { Call, Callback, Payout, Refund, Tables } from './storage/tables.ts';
import type { Wallets } from './wallets.ts';

export type LedgerDeps = Pick<
  Tables,
  'payments' | 'refunds' | 'payouts' | 'disputes' | 'callbacks' | 'calls'
> & {
  wallets: Pick<Wallets, 'list'>;
};

/**
 * Maximum number of payments, refunds, payouts, disputes, callbacks and calls in one ledger, newest first;
 * `paymentsCount` shows whether there are more.
 */
const entriesMax = 10_000;

/** The records, oldest first: all of them, or those of one `orderNumber`. The wallets are always complete. */
export function readLedger(deps: LedgerDeps, merchantId: number, orderNumber: string | undefined) {
  const [filter, page] = [{ merchantId, orderNumber }, { limit: entriesMax }];
  return {
    payments: deps.payments.list(filter, page).reverse().map(toLedgerPayment),
    paymentsCount: deps.payments.count(filter),
    refunds: deps.refunds.list(filter, page).reverse().map(toLedgerRefund),
    payouts: deps.payouts.list(filter, page).reverse().map(toLedgerMovement),
    disputes: deps.disputes.list(filter, page).reverse().map(toServiceDispute),
    wallets: deps.wallets.list(merchantId),
    callbacks: deps.callbacks.list(filter, page).reverse().map(toLedgerCallback),
    calls: deps.calls.list(filter, page).reverse().map(toLedgerCall),
  };
}

const toLedgerPayment = (payment: Payment) => ({
  token: payment.token,
  orderNumber: payment.orderNumber ?? null,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  heldAmount: payment.heldAmount,
  refundedAmount: payment.refundedAmount,
  disputedAmount: payment.disputedAmount,
  statuses: payment.statuses.map(({ status, at }) => ({ status, at: toIsoTime(at) })),
});

const toLedgerMovement = (movement: Refund | Payout) => ({
  token: movement.token,
  orderNumber: movement.orderNumber ?? null,
  amount: movement.amount,
  currency: movement.currency,
  status: movement.status,
  createdAt: toIsoTime(movement.createdAt),
});

const toLedgerRefund = (refund: Refund) => ({
  paymentToken: refund.paymentToken,
  ...toLedgerMovement(refund),
});

const toLedgerCallback = (callback: Callback) => ({
  token: callback.token,
  orderNumber: callback.orderNumber ?? null,
  status: callback.status,
  state: callback.state,
  tries: callback.tries,
});

const toLedgerCall = ({ merchantId: _, at, ...call }: Call) => ({ at: toIsoTime(at), ...call });
