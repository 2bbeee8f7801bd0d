/**
 * The life cycle of a payment as rules without I/O. The specification names the states but not the transitions (section
 * 3). These are used: init → pending | expired, pending → approved | declined | expired, approved → refunded, and an
 * operator's revisions.
 */
import { isFinalStatus, paymentStatusSchema } from '@tollgate/core/money';
import { type CreatePaymentRequest } from '@tollgate/payment-api';
import { z } from 'zod';
import type { CardBehavior } from './cards.ts';

/** A payment as it is stored. Times are milliseconds since the Unix epoch on the service's clock. */
export const paymentSchema = z.object({
  token: z.string(),
  merchantId: z.int(),
  status: paymentStatusSchema,
  product: z.string(),
  amount: z.int(),
  currency: z.string(),
  orderNumber: z.string().optional(),
  callbackUrl: z.string(),
  redirectSuccessUrl: z.string().optional(),
  redirectFailUrl: z.string().optional(),
  /** Empty if the merchant requested none: the browser's locale is used. */
  locale: z.string(),
  needConfirmation: z.boolean(),
  /** The merchant requested a recurring token; it is issued when the customer has paid. */
  recurring: z.boolean(),
  heldAmount: z.int(),
  refundedAmount: z.int(),
  /** Amount disputed by customers, pending or lost by the merchant; it cannot be refunded. */
  disputedAmount: z.int().default(0),
  recurringToken: z.string().optional(),
  sanitizedMask: z.string().optional(),
  declineReason: z.string().optional(),
  /** Set while the customer is on the authentication page: the card's outcome after confirmation. */
  authenticationYields: z.enum(['approved', 'declined']).optional(),
  statuses: z.array(z.object({ status: paymentStatusSchema, at: z.int() })),
  createdAt: z.int(),
  updatedAt: z.int(),
  /** Expiry of the payment or the authorization; absent once final. */
  expiresAt: z.int().optional(),
});
export type Payment = z.infer<typeof paymentSchema>;

/** One rule of the life cycle; returns the same object if nothing changes. */
export type Step = (payment: Payment, now: number) => Payment;

/** An uncompleted payment expires after this time. */
const checkoutLifetimeMs = 30 * 60_000;
/** An authorization that is neither confirmed nor declined expires after this time. */
const holdLifetimeMs = 7 * 24 * 60 * 60_000;

export type CheckoutRequest = Omit<CreatePaymentRequest, 'card' | 'recurringToken' | 'customer'>;

/** A new payment in state `init`. */
export function newPayment(
  request: CheckoutRequest,
  identity: { token: string; merchantId: number },
  now: number,
): Payment {
  return {
    ...identity,
    status: 'init',
    product: request.product,
    amount: request.amount,
    currency: request.currency,
    orderNumber: request.orderNumber,
    callbackUrl: request.callbackUrl,
    redirectSuccessUrl: request.redirectSuccessUrl,
    redirectFailUrl: request.redirectFailUrl,
    locale: request.locale ?? '',
    needConfirmation: request.needConfirmation ?? false,
    recurring: request.recurring ?? false,
    heldAmount: 0,
    refundedAmount: 0,
    disputedAmount: 0,
    statuses: [{ status: 'init', at: now }],
    createdAt: now,
    updatedAt: now,
    expiresAt: now + checkoutLifetimeMs,
  };
}

/** The customer's next step: enter a card, authenticate, or none. */
export function customerStep(payment: Payment): 'card' | 'authentication' | 'none' {
  if (isFinalStatus(payment.status) || payment.heldAmount > 0) return 'none';
  return payment.authenticationYields === undefined ? 'card' : 'authentication';
}

/** The customer's money was taken, or is authorized and awaits the merchant's confirmation. */
export const isPaid = (payment: Payment): boolean => payment.status === 'approved' || payment.heldAmount > 0;

/** The customer opens the hosted page. */
export const openCheckout: Step = (payment, now) =>
  payment.status === 'init' ? moveTo(payment, 'pending', now) : payment;

/** The customer submits a card; it replaces an earlier card that still awaits authentication. */
export const submitCard =
  (card: CardBehavior, newRecurringToken: string): Step =>
  (payment, now) => {
    if (customerStep(payment) === 'none') return payment;
    const withCard = { ...payment, sanitizedMask: card.sanitizedMask, updatedAt: now };
    if (card.needsAuthentication) return { ...withCard, authenticationYields: card.outcome };
    return charge(withCard, card.outcome, newRecurringToken, now);
  };

/** The customer confirms or rejects on the authentication page. */
export const answerAuthentication =
  (isConfirmed: boolean, newRecurringToken: string): Step =>
  (payment, now) => {
    if (customerStep(payment) !== 'authentication') return payment;
    if (!isConfirmed) return decline(payment, 'authentication_rejected', now);
    return charge(payment, payment.authenticationYields ?? 'declined', newRecurringToken, now);
  };

/** The outcome of a payment without a card, for the sandbox's controls. */
export const settleAs =
  (outcome: 'approved' | 'declined', newRecurringToken: string): Step =>
  (payment, now) =>
    customerStep(payment) === 'none' ? payment : charge(payment, outcome, newRecurringToken, now);

/** A repeat payment without the customer; `outcome` is that of the card behind the recurring token. */
export const chargeAgain =
  (first: Pick<Payment, 'recurringToken' | 'sanitizedMask'>, outcome: 'approved' | 'declined'): Step =>
  (payment, now) => {
    const { recurringToken, sanitizedMask } = first;
    return charge({ ...payment, recurring: false, recurringToken, sanitizedMask }, outcome, '', now);
  };

/** The merchant captures the authorized money; always the full amount. */
export const confirmHold =
  (newRecurringToken: string): Step =>
  (payment, now) =>
    payment.heldAmount > 0 ? approve(payment, newRecurringToken, now) : payment;

/** The merchant releases the authorized money. */
export const declineHold: Step = (payment, now) =>
  payment.heldAmount > 0 ? decline(payment, 'declined_by_merchant', now) : payment;

/** The approved money of a payment that is neither refunded nor disputed. */
export const refundableAmount = ({ status, amount, refundedAmount, disputedAmount }: Payment): number =>
  status === 'approved' ? amount - refundedAmount - disputedAmount : 0;

/** Records a refund; the payment is `refunded` once the full amount is. At most {@link refundableAmount}. */
export const countRefund =
  (refundAmount: number): Step =>
  (payment, now) => {
    const refundedAmount = payment.refundedAmount + refundAmount;
    const counted = { ...payment, refundedAmount, updatedAt: now };
    return refundedAmount === payment.amount ? moveTo(counted, 'refunded', now) : counted;
  };

/** Records an opened dispute, or, with a negative amount, one that the merchant has won. */
export const countDispute =
  (disputeAmount: number): Step =>
  (payment, now) => ({ ...payment, disputedAmount: payment.disputedAmount + disputeAmount, updatedAt: now });

/**
 * The money that a step moved into the merchant's wallet, or, if negative, out of it: by an approval or its revision.
 * Refunds and disputes are booked separately.
 */
export function approvedMoney(before: Payment, after: Payment): number {
  if (before.status !== 'approved' && after.status === 'approved') return after.amount;
  return before.status === 'approved' && after.status === 'declined' ? -before.amount : 0;
}

/** True if this step took or reserved the customer's money. */
export const isNewlyPaid = (before: Payment, after: Payment): boolean => !isPaid(before) && isPaid(after);

/** Declines an approval that would take the merchant's wallet beyond the largest exact sum. */
export const declineBeyondLimit: Step = (payment, now) => decline(payment, 'limit_exceeded', now);

/** Expires abandoned payments and unconfirmed authorizations. */
export const expireWhenDue: Step = (payment, now) =>
  payment.expiresAt !== undefined && payment.expiresAt <= now ? moveTo(payment, 'expired', now) : payment;

const revisions: ReadonlySet<string> = new Set([
  'declined→approved',
  'approved→declined',
  'expired→approved',
]);

/** True if an operator may revise a final status; not once money was refunded or disputed. */
export const mayRevise = (payment: Payment, status: Payment['status']): boolean =>
  revisions.has(`${payment.status}→${status}`) &&
  payment.refundedAmount === 0 &&
  payment.disputedAmount === 0;

/** An operator's revision of a final status, optionally with another amount. */
export const revise =
  (status: 'approved' | 'declined', amount: number | undefined): Step =>
  (payment, now) =>
    moveTo(
      {
        ...payment,
        amount: amount ?? payment.amount,
        declineReason: status === 'declined' ? 'revised_by_operator' : undefined,
      },
      status,
      now,
    );

/**
 * True if the merchant gets a callback: for a new status, or for an authorization that awaits confirmation, which has
 * no status of its own.
 */
export const needsCallback = (before: Payment, after: Payment): boolean =>
  before.statuses.length !== after.statuses.length || after.heldAmount > before.heldAmount;

function charge(
  payment: Payment,
  outcome: 'approved' | 'declined',
  newRecurringToken: string,
  now: number,
): Payment {
  if (outcome === 'declined') return decline(payment, 'card_declined', now);
  if (!payment.needConfirmation) return approve(payment, newRecurringToken, now);
  return {
    ...payment,
    heldAmount: payment.amount,
    authenticationYields: undefined,
    updatedAt: now,
    expiresAt: now + holdLifetimeMs,
  };
}

const approve = (payment: Payment, newRecurringToken: string, now: number): Payment =>
  moveTo(payment.recurring ? { ...payment, recurringToken: newRecurringToken } : payment, 'approved', now);

const decline = (payment: Payment, declineReason: string, now: number): Payment =>
  moveTo({ ...payment, declineReason }, 'declined', now);

function moveTo(payment: Payment, status: Payment['status'], now: number): Payment {
  const isFinal = isFinalStatus(status);
  return {
    ...payment,
    status,
    statuses: [...payment.statuses, { status, at: now }],
    updatedAt: now,
    heldAmount: isFinal ? 0 : payment.heldAmount,
    expiresAt: isFinal ? undefined : payment.expiresAt,
    authenticationYields: isFinal ? undefined : payment.authenticationYields,
  };
}
