/** Refunds: of all that is left of an approved payment, or of a part; never more than was approved. */
import { apiError, isFinalStatus, type ApiError } from '@tollgate/payment-api';
import type { Ids } from '@tollgate/service-kit';
import { toNotice } from './callbacks.ts';
import type { LedgerAccounts } from './ledger-accounts.ts';
import { newTokenOf, paymentNotFound } from './payment-changes.ts';
import { countRefund, refundableAmount, type Payment } from './payments.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Refund, RecordsTable } from './storage/records-table.ts';
import type { Transactions } from './transactions.ts';

/** A refund, or why there is none; nothing was changed then. */
export type Refunded = { refund: Refund; refused?: never } | { refused: ApiError; refund?: never };

export interface Refunds {
  /**
   * Refunds at once, and resolves when that is durable. `amount` is in minor units; without it, all that is not refunded
   * yet. `alsoWrite` runs in the same transaction.
   */
  refund(
    merchant: Merchant,
    request: { token: string; amount?: number | undefined },
    alsoWrite: (refunded: Refunded) => void,
  ): Promise<Refunded>;
}

export interface RefundsDeps {
  transactions: Transactions;
  refunds: RecordsTable<Refund>;
  accounts: Pick<LedgerAccounts, 'refund'>;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
}

export function createRefunds(deps: RefundsDeps): Refunds {
  const { transactions } = deps;
  return {
    refund: (merchant, { token, amount }, alsoWrite) =>
      transactions.write(() => {
        const payment = transactions.findOwn(merchant, token);
        const refunded =
          payment === undefined ? { refused: paymentNotFound() } : refundPayment(deps, payment, amount);
        alsoWrite(refunded);
        return refunded;
      }),
  };
}

/** Runs inside a transaction. The payment's callback is queued before the refund's. */
function refundPayment(deps: RefundsDeps, payment: Payment, asked: number | undefined): Refunded {
  const amount = asked ?? payment.amount - payment.refundedAmount;
  const parameter = asked === undefined ? 'token' : 'amount';
  const refused = objection(payment, amount, parameter);
  if (refused !== undefined) return { refused };
  if (!deps.accounts.refund(payment, amount)) return { refused: noMoney(parameter) };
  deps.transactions.advance(payment, countRefund(amount));
  const refund: Refund = {
    token: newTokenOf(deps.ids),
    merchantId: payment.merchantId,
    paymentToken: payment.token,
    orderNumber: payment.orderNumber,
    amount,
    currency: payment.currency,
    status: 'approved',
    createdAt: deps.now(),
  };
  deps.refunds.insert(refund);
  deps.transactions.tell(toNotice('refund', refund, payment.callbackUrl));
  return { refund };
}

/** What was refunded in full is refused like any refund beyond the amount, so that two full refunds end alike. */
function objection(payment: Payment, amount: number, parameter: string): ApiError | undefined {
  const { status } = payment;
  if (isFinalStatus(status) && status !== 'approved' && status !== 'refunded')
    return apiError('payment_in_final_state', `The payment is ${status}: nothing can be refunded.`, 'token');
  const left = refundableAmount(payment);
  if (amount >= 1 && amount <= left) return undefined;
  const message = `At most ${left} of the payment can be refunded, in minor units.`;
  return apiError('refund_exceeds_amount', message, parameter);
}

const noMoney = (parameter: string): ApiError =>
  apiError('no_money_available_on_refund', 'The balance is less than the refund.', parameter);
