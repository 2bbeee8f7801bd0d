/**
 * Disputes: a customer's bank asks for the money of a payment back. While one is pending its amount cannot be refunded;
 * `approved` means that the customer got it (the merchant has lost), `declined` that the merchant keeps it.
 */
import { apiError, type ApiError } from '@tollgate/payment-api';
import type { Ids } from '@tollgate/service-kit';
import { toNotice } from './callbacks.ts';
import type { LedgerAccounts } from './ledger-accounts.ts';
import { newTokenOf, paymentNotFound } from './payment-changes.ts';
import { countDispute, refundableAmount, type Payment } from './payments.ts';
import type { Dispute, RecordsTable } from './storage/records-table.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Transactions } from './transactions.ts';

/** A dispute, or why it was not opened or resolved; nothing was changed then. */
export type Disputed = { dispute: Dispute; refused?: never } | { refused: ApiError; dispute?: never };

/** What a tester opens a dispute with. Without `amount`, all that is neither refunded nor disputed, in minor units. */
interface DisputeRequest {
  token: string;
  amount?: number | undefined;
  reasonCode?: string | undefined;
}

/** The changes of a dispute. Each resolves when it is durable. */
export interface Disputes {
  open(merchant: Merchant, request: DisputeRequest): Promise<Disputed>;
  resolve(merchant: Merchant, id: string, status: 'approved' | 'declined'): Promise<Disputed>;
}

export interface DisputesDeps {
  transactions: Transactions;
  disputes: RecordsTable<Dispute>;
  accounts: Pick<LedgerAccounts, 'takeBack'>;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
}

const defaultReasonCode = 'general';

export function createDisputes(deps: DisputesDeps): Disputes {
  const { transactions, disputes } = deps;
  return {
    open: (merchant, request) =>
      transactions.write(() => {
        const payment = transactions.findOwn(merchant, request.token);
        return payment === undefined ? { refused: paymentNotFound() } : openDispute(deps, payment, request);
      }),
    resolve: (merchant, id, status) =>
      transactions.write(() => {
        const dispute = disputes.find(id);
        const payment = dispute === undefined ? undefined : transactions.findOwn(merchant, dispute.token);
        if (dispute === undefined || payment === undefined) return { refused: disputeNotFound() };
        if (dispute.status !== 'pending') return { refused: alreadyResolved(dispute) };
        return resolveDispute(deps, payment, dispute, status);
      }),
  };
}

/** Runs inside a transaction; so does `resolveDispute`. */
function openDispute(deps: DisputesDeps, payment: Payment, request: DisputeRequest): Disputed {
  const left = refundableAmount(payment);
  const amount = request.amount ?? left;
  if (left === 0) return { refused: nothingToDispute(payment) };
  if (amount > left) return { refused: moreThanLeft(left) };
  const at = deps.now();
  const dispute: Dispute = {
    id: newTokenOf(deps.ids),
    merchantId: payment.merchantId,
    token: payment.token,
    orderNumber: payment.orderNumber,
    amount,
    currency: payment.currency,
    status: 'pending',
    type: 'chargeback',
    reasonCode: request.reasonCode ?? defaultReasonCode,
    comment: null,
    createdAt: at,
    updatedAt: at,
  };
  deps.transactions.advance(payment, countDispute(amount));
  deps.disputes.insert(dispute);
  deps.transactions.tell(toNotice('dispute', dispute, payment.callbackUrl));
  return { dispute };
}

function resolveDispute(
  deps: DisputesDeps,
  payment: Payment,
  pending: Dispute,
  status: 'approved' | 'declined',
): Disputed {
  const dispute: Dispute = { ...pending, status, updatedAt: deps.now() };
  if (status === 'approved') deps.accounts.takeBack(payment, dispute.amount, 'dispute_lost');
  else deps.transactions.advance(payment, countDispute(-dispute.amount));
  deps.disputes.update(dispute);
  deps.transactions.tell(toNotice('dispute', dispute, payment.callbackUrl));
  return { dispute };
}

/** Also for another merchant's dispute. */
const disputeNotFound = (): ApiError =>
  apiError('payment_not_found', 'There is no dispute with this id.', 'id');

const alreadyResolved = ({ status }: Dispute): ApiError =>
  apiError('payment_in_final_state', `The dispute is already ${status}.`, 'id');

const nothingToDispute = ({ status }: Payment): ApiError =>
  apiError('payment_in_final_state', `The payment is ${status}, with nothing left to dispute.`, 'token');

const moreThanLeft = (left: number): ApiError =>
  apiError('incorrect_amount', `amount must be at most ${left}, which is left of the payment.`, 'amount');
