/** Refunds, payouts and disputes, and what falls due. Each runs inside a transaction. */
import { apiError } from '@tollgate/payment-api';
import { isFinalStatus, type ApiError } from '@tollgate/core/money';
import type { Ids } from '@tollgate/service-kit';
import { toNotice } from './callbacks.ts';
import type { Faults } from './faults.ts';
import {
  createPaymentChanges,
  newTokenOf,
  paymentNotFound,
  recurringTokenNotFound,
  type Result,
} from './payment-changes.ts';
import { countDispute, countRefund, refundableAmount, type Payment } from './payments.ts';
import type { Database } from './storage/database.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Dispute, Payout, Refund, Tables } from './storage/tables.ts';
import { createTransactions } from './transactions.ts';
import { type Wallets, createWallets } from './wallets.ts';

/** The parsed destination: its outcome, and a card's mask. */
type PayoutDestination =
  { recurringToken: string } | { outcome: 'approved' | 'declined'; sanitizedMask?: string | undefined };

/** A payout as the service reads it, in minor units. */
export interface PayoutTerms {
  amount: number;
  currency: string;
  orderNumber: string;
  callbackUrl?: string | undefined;
  destination: PayoutDestination;
}

/** Without `amount`, in minor units: the remaining amount of the payment. */
interface PartRequest {
  token: string;
  amount?: number | undefined;
}

export interface MoneyMovementsDeps {
  database: Pick<Database, 'connection'>;
  tables: Tables;
  faults: Faults;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
  /** Time from the approval of a payment until its money is available. */
  settlementDelayMs: number;
  /** Called when a callback is queued. */
  onChange: () => void;
}

export type MoneyMovements = ReturnType<typeof createMoneyMovements>;

/** Of one transaction. */
const settlementsMax = 500;

export function createMoneyMovements(deps: MoneyMovementsDeps) {
  const { database, tables } = deps;
  const wallets = createWallets(database.connection, deps);
  const transactions = createTransactions({ ...deps, ...tables, wallets });
  const common = { ...deps, ...tables, transactions, wallets };
  const changes = createPaymentChanges(common);
  const withOwn = <Value>(
    merchant: Merchant,
    token: string,
    change: (payment: Payment) => Result<Value>,
  ): Result<Value> => {
    const payment = transactions.findOwn(merchant, token);
    return payment === undefined ? { refused: paymentNotFound() } : change(payment);
  };
  return {
    wallets,
    changes,
    refund: (merchant: Merchant, { token, amount }: PartRequest) =>
      withOwn(merchant, token, (payment) => refundPayment(common, payment, amount)),
    payOut: (merchant: Merchant, terms: PayoutTerms) => payOut(common, merchant, terms),
    openDispute: (merchant: Merchant, request: PartRequest & { reasonCode?: string | undefined }) =>
      withOwn(merchant, request.token, (payment) => openDispute(common, payment, request)),
    resolveDispute: (merchant: Merchant, id: string, status: 'approved' | 'declined'): Result<Dispute> => {
      const dispute = tables.disputes.find(id);
      const payment = dispute === undefined ? undefined : transactions.findOwn(merchant, dispute.token);
      if (dispute === undefined || payment === undefined) return { refused: disputeNotFound() };
      if (dispute.status !== 'pending') return { refused: alreadyResolved(dispute) };
      return resolveDispute(common, payment, dispute, status);
    },
    /** Expires and settles due items, up to a limit, and returns the next due time. */
    doDue: (): number | undefined => {
      const nextExpiry = changes.expireDue();
      wallets.settle(settlementsMax);
      const next = [nextExpiry, wallets.nextSettlement()].filter((time) => time !== undefined);
      return next.length === 0 ? undefined : Math.min(...next);
    },
  };
}

type Common = MoneyMovementsDeps &
  Tables & {
    transactions: ReturnType<typeof createTransactions>;
    wallets: Wallets;
  };

/** The payment's callback is queued before the refund's. */
function refundPayment(
  { wallets, transactions, refunds, ids, now }: Common,
  payment: Payment,
  asked: number | undefined,
): Result<Refund> {
  const amount = asked ?? payment.amount - payment.refundedAmount;
  const parameter = asked === undefined ? 'token' : 'amount';
  const refused = objectionToRefund(payment, amount, parameter);
  if (refused !== undefined) return { refused };
  if (!wallets.refund(payment, amount)) return { refused: noMoney(parameter) };
  transactions.advance(payment, countRefund(amount));
  const refund: Refund = {
    token: newTokenOf(ids),
    merchantId: payment.merchantId,
    paymentToken: payment.token,
    orderNumber: payment.orderNumber,
    amount,
    currency: payment.currency,
    status: 'approved',
    createdAt: now(),
  };
  refunds.insert(refund);
  transactions.notify(toNotice('refund', refund, payment.callbackUrl));
  return { value: refund };
}

/** A fully refunded payment is refused like any excessive refund, so that two full refunds get the same error. */
function objectionToRefund(payment: Payment, amount: number, parameter: string): ApiError | undefined {
  const { status } = payment;
  if (isFinalStatus(status) && status !== 'approved' && status !== 'refunded')
    return apiError('payment_in_final_state', `The payment is ${status} and cannot be refunded.`, 'token');
  const left = refundableAmount(payment);
  if (amount >= 1 && amount <= left) return undefined;
  const message = `At most ${left} of the payment can be refunded, in minor units.`;
  return apiError('refund_exceeds_amount', message, parameter);
}

/** Pays out to a card, to a bank account, or to the card of an earlier payment; from settled money only. */
function payOut(deps: Common, merchant: Merchant, terms: PayoutTerms): Result<Payout> {
  const { transactions, wallets, payouts, ids, now } = deps;
  const { destination, ...asked } = terms;
  const resolved = resolveDestination(deps, merchant, destination);
  if (resolved === undefined) return { refused: recurringTokenNotFound('destination.recurringToken') };
  const at = now();
  const payout: Payout = {
    token: newTokenOf(ids),
    merchantId: merchant.id,
    status: resolved.outcome,
    amount: asked.amount,
    currency: asked.currency,
    orderNumber: asked.orderNumber,
    callbackUrl: asked.callbackUrl,
    sanitizedMask: resolved.sanitizedMask,
    declineReason: resolved.outcome === 'declined' ? 'card_declined' : undefined,
    createdAt: at,
    updatedAt: at,
  };
  const isCovered =
    payout.status === 'approved'
      ? wallets.payOut(payout, payout.amount)
      : wallets.of(payout).available >= payout.amount;
  if (!isCovered) return { refused: balanceTooSmall() };
  payouts.insert(payout);
  if (payout.callbackUrl !== undefined) transactions.notify(toNotice('payout', payout, payout.callbackUrl));
  return { value: payout };
}

function resolveDestination(
  { payments }: Common,
  merchant: Merchant,
  destination: PayoutDestination,
): Exclude<PayoutDestination, { recurringToken: string }> | undefined {
  if ('outcome' in destination) return destination;
  const first = payments.findFirstOf(destination.recurringToken);
  if (first?.merchantId !== merchant.id) return undefined;
  return { outcome: 'approved', sanitizedMask: first.sanitizedMask };
}

/** A customer's bank disputes a payment. While this is pending, its amount cannot be refunded. */
function openDispute(
  { transactions, disputes, ids, now }: Common,
  payment: Payment,
  request: { amount?: number | undefined; reasonCode?: string | undefined },
): Result<Dispute> {
  const left = refundableAmount(payment);
  const amount = request.amount ?? left;
  if (left === 0) return { refused: nothingToDispute(payment) };
  if (amount > left) return { refused: moreThanLeft(left) };
  const at = now();
  const dispute: Dispute = {
    id: newTokenOf(ids),
    merchantId: payment.merchantId,
    token: payment.token,
    orderNumber: payment.orderNumber,
    amount,
    currency: payment.currency,
    status: 'pending',
    type: 'chargeback',
    reasonCode: request.reasonCode ?? 'general',
    comment: null,
    createdAt: at,
    updatedAt: at,
  };
  transactions.advance(payment, countDispute(amount));
  disputes.insert(dispute);
  transactions.notify(toNotice('dispute', dispute, payment.callbackUrl));
  return { value: dispute };
}

/** `approved`: the customer gets the money, and the merchant has lost; `declined`: the merchant keeps it. */
function resolveDispute(
  { transactions, disputes, wallets, now }: Common,
  payment: Payment,
  pending: Dispute,
  status: 'approved' | 'declined',
): Result<Dispute> {
  const dispute: Dispute = { ...pending, status, updatedAt: now() };
  if (status === 'approved') wallets.takeBack(payment, dispute.amount);
  else transactions.advance(payment, countDispute(-dispute.amount));
  disputes.update(dispute);
  transactions.notify(toNotice('dispute', dispute, payment.callbackUrl));
  return { value: dispute };
}

const noMoney = (parameter: string): ApiError =>
  apiError('no_money_available_on_refund', 'The balance is less than the refund.', parameter);
const balanceTooSmall = (): ApiError =>
  apiError('balance_less_than_amount', 'The available balance is less than the amount.', 'amount');
/** Undefined for another merchant's dispute as well. */
const disputeNotFound = (): ApiError =>
  apiError('payment_not_found', 'There is no dispute with this id.', 'id');
const alreadyResolved = ({ status }: Dispute): ApiError =>
  apiError('payment_in_final_state', `The dispute is already ${status}.`, 'id');
const nothingToDispute = ({ status }: Payment): ApiError =>
  apiError('payment_in_final_state', `The payment is ${status}, with nothing left to dispute.`, 'token');
const moreThanLeft = (left: number): ApiError =>
  apiError('incorrect_amount', `amount must be at most ${left}, which is left of the payment.`, 'amount');
