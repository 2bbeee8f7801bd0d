/**
 * The Payment Service of the property tests: its ledger, and the effects of each call. It has no protection against a
 * second call or an excessive refund: that is the gateway's task here.
 */
import type { ObservedPayment } from '../payment/payment-commands.ts';
import { disputeStates, type DisputeState } from '../payment/payment-commands.ts';
import { terms } from './samples.ts';

export interface ServicePayment {
  serviceToken: string;
  orderNumber: string;
  status: 'init' | 'pending' | 'approved' | 'declined' | 'refunded' | 'expired';
  amount: number;
  authorizedAmount: number;
  refundedAmount: number;
  /** It can be paid: the page was handed out, or a card was sent. */
  hasPayer: boolean;
  /** The sums were changed in the provider's console: from then on it counts them itself. */
  isCounted: boolean;
}

export interface ServiceRefund {
  serviceRefundToken: string;
  /** Our token of the call that made it. */
  refundToken: string;
  serviceToken: string;
  amount: number;
  status: 'pending' | 'approved' | 'declined';
}

export interface ServiceDispute {
  disputeToken: string;
  /** Token of the payment. */
  serviceToken: string;
  amount: number;
  state: DisputeState;
  /** Changes so far: the revision of the dispute's own stream, if each was recorded. */
  revision: number;
}

export interface Ledger {
  payments: ServicePayment[];
  refunds: ServiceRefund[];
  disputes: ServiceDispute[];
}

export function openDispute({ disputes }: Ledger, { status, serviceToken }: ServicePayment, amount: number) {
  if (status !== 'approved' && status !== 'refunded') return;
  const disputeToken = `dispute-${disputes.length + 1}`;
  disputes.push({ disputeToken, serviceToken, amount, state: 'open', revision: 0 });
}

/** The bank decides, decides again, or changes the amount. */
export function changeDispute(dispute: ServiceDispute, size: number): void {
  dispute.state = disputeStates[size % disputeStates.length] ?? 'open';
  dispute.amount = 1 + (size % terms.amount);
  dispute.revision += 1;
}

export function createAtService(
  { payments }: Ledger,
  orderNumber: string,
  status: ServicePayment['status'],
  hasPayer: boolean,
): ServicePayment {
  const payment: ServicePayment = {
    serviceToken: `token-${payments.length + 1}`,
    orderNumber,
    status,
    amount: terms.amount,
    authorizedAmount: 0,
    refundedAmount: 0,
    hasPayer,
    isCounted: false,
  };
  payments.push(payment);
  return payment;
}

/** Captures or voids authorized money; false if there is none. */
export function captureOrVoidAtService(payment: ServicePayment, operation: 'capture' | 'void'): boolean {
  if (payment.status !== 'pending' || payment.authorizedAmount === 0) return false;
  Object.assign(payment, { status: operation === 'capture' ? 'approved' : 'declined', authorizedAmount: 0 });
  return true;
}

/** Accepts a refund, decided or not; undefined if refused. */
export function refundAtService(
  ledger: Ledger,
  payment: ServicePayment,
  { refundToken, amount }: { refundToken: string; amount: number },
  status: ServiceRefund['status'],
): ServiceRefund | undefined {
  if (!isRefundable(ledger, payment, amount)) return undefined;
  const { serviceToken } = payment;
  const serviceRefundToken = `service-refund-${ledger.refunds.length + 1}`;
  const refund: ServiceRefund = { serviceRefundToken, refundToken, serviceToken, amount, status: 'pending' };
  ledger.refunds.push(refund);
  decideAtService(ledger, refund, status);
  return refund;
}

function isRefundable({ refunds }: Ledger, payment: ServicePayment, amount: number): boolean {
  if (payment.status !== 'approved') return false;
  const waiting = refunds.filter(({ status, serviceToken }) => isOpen(status) && isOf(serviceToken, payment));
  const reserved = waiting.reduce((sum, refund) => sum + refund.amount, 0);
  return !payment.isCounted || payment.refundedAmount + reserved + amount <= payment.amount;
}

const isOpen = (status: ServiceRefund['status']): boolean => status === 'pending';
const isOf = (serviceToken: string, payment: ServicePayment): boolean =>
  payment.serviceToken === serviceToken;

/** Decides an accepted refund; if a revision has left too little money, it is declined. */
export function decideAtService(
  { payments }: Ledger,
  refund: ServiceRefund,
  status: ServiceRefund['status'],
): void {
  const payment = payments.find(({ serviceToken }) => serviceToken === refund.serviceToken);
  if (refund.status !== 'pending' || payment === undefined) return;
  const isCovered = !payment.isCounted || payment.refundedAmount + refund.amount <= payment.amount;
  const isPossible = payment.status === 'approved' && isCovered;
  refund.status = status === 'approved' && !isPossible ? 'declined' : status;
  if (refund.status === 'approved') giveBack(payment, refund.amount);
}

function giveBack(payment: ServicePayment, amount: number): void {
  payment.refundedAmount += amount;
  if (payment.refundedAmount === payment.amount) payment.status = 'refunded';
}

/** A refund in the provider's own console. */
export function refundInConsole(ledger: Ledger, payment: ServicePayment, amount: number): void {
  payment.isCounted = true;
  if (isRefundable(ledger, payment, amount)) giveBack(payment, amount);
}

/** An operator revokes an approved payment, or approves one after all, with a new amount. */
export function reviseAtService(payment: ServicePayment, size: number): void {
  if (!payment.hasPayer) return;
  payment.isCounted = true;
  if (payment.status === 'approved') {
    // Revoked, frozen, or revoked and approved again with another amount.
    payment.status = (['declined', 'declined', 'pending', 'approved'] as const)[size % 4] ?? 'declined';
    if (payment.status === 'approved') payment.amount = payment.refundedAmount + 1 + (size % 2_000);
  } else if (payment.status === 'declined' || payment.status === 'expired') {
    payment.status = 'approved';
    payment.amount = Math.max(payment.refundedAmount + 1, size % 2_000);
  }
}

/** The customer's action on the page, or the bank's decision about the card. Authorized money waits for the merchant. */
export function customerActs(payment: ServicePayment, pick: number): void {
  const isOpenToPay =
    payment.status === 'init' || (payment.status === 'pending' && payment.authorizedAmount === 0);
  if (!payment.hasPayer || !isOpenToPay) return;
  const ways: Partial<ServicePayment>[] = [
    { status: 'pending' },
    { status: 'pending', authorizedAmount: payment.amount },
    { status: 'approved' },
    { status: 'declined' },
  ];
  Object.assign(payment, ways[pick % ways.length]);
}

export function expireAtService(payment: ServicePayment): void {
  if (payment.status === 'init' || payment.status === 'pending')
    Object.assign(payment, { status: 'expired', authorizedAmount: 0 });
}

/** The result of a retrieval. */
export const snapshotOf = (payment: ServicePayment): ObservedPayment => ({
  serviceToken: payment.serviceToken,
  status: payment.status,
  amount: payment.amount,
  currency: terms.currency,
  orderNumber: payment.orderNumber,
  authorizedAmount: payment.authorizedAmount,
  refundedAmount: payment.refundedAmount,
  processingUrl: `https://pay.example/${payment.serviceToken}`,
  ...(payment.status === 'approved' ? { recurringToken: 'rec_1' } : {}),
});
