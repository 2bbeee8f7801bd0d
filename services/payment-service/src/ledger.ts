/** The truth of the sandbox: what really happened to a merchant's payments, and which calls it made. */
import { toIsoTime } from './answers.ts';
import type { Payment } from './payments.ts';
import type { CallbackQueue } from './storage/callback-queue.ts';
import type { CallLog, CallRecord } from './storage/call-log.ts';
import type { PaymentsTable } from './storage/payments-table.ts';

export interface LedgerDeps {
  payments: PaymentsTable;
  queue: CallbackQueue;
  calls: CallLog;
}

/** Newest payments and callbacks of one ledger at most; `paymentsCount` tells whether there are more. */
const entriesMax = 10_000;

/** Payments, callbacks and calls, oldest first; all of them, or those of one `orderNumber`. */
export function readLedger(deps: LedgerDeps, merchantId: number, orderNumber: string | undefined): object {
  const filter = { merchantId, orderNumber };
  return {
    payments: deps.payments.list(filter, { offset: 0, limit: entriesMax }).reverse().map(toLedgerPayment),
    paymentsCount: deps.payments.count(filter),
    // Empty until this service takes refunds and payouts; there so that readers need not change then.
    refunds: [],
    payouts: [],
    callbacks: deps.queue.records(merchantId, orderNumber, entriesMax),
    calls: deps.calls.list(merchantId, orderNumber).map(toLedgerCall),
  };
}

const toLedgerPayment = (payment: Payment): object => ({
  token: payment.token,
  orderNumber: payment.orderNumber ?? null,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  heldAmount: payment.heldAmount,
  refundedAmount: payment.refundedAmount,
  statuses: payment.statuses.map(({ status, at }) => ({ status, at: toIsoTime(at) })),
});

const toLedgerCall = ({ at, operation, token, orderNumber, effect, answer }: CallRecord): object => ({
  at: toIsoTime(at),
  operation,
  ...(token === undefined ? {} : { token }),
  ...(orderNumber === undefined ? {} : { orderNumber }),
  effect,
  answer,
});
