/** Every change of a payment: the record, the booking and the callback. Each runs inside a transaction. */
import { apiError } from '@tollgate/payment-api';
import { formatAmount, isFinalStatus, type ApiError } from '@tollgate/core/money';
import type { Ids } from '@tollgate/service-kit';
import type { CardBehavior } from './cards.ts';
import {
  answerAuthentication,
  chargeAgain,
  confirmHold,
  customerStep,
  declineHold,
  expireWhenDue,
  mayRevise,
  newPayment,
  openCheckout,
  revise,
  settleAs,
  submitCard,
  type CheckoutRequest,
  type Payment,
  type Step,
} from './payments.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Tables } from './storage/tables.ts';
import type { Transactions } from './transactions.ts';
import type { Wallets } from './wallets.ts';

/** The result of a change, or why it was refused; a refusal changes nothing. */
export type Result<Value> = { value: Value; refused?: never } | { refused: ApiError; value?: never };

/** The means of payment if no customer is sent to the hosted page. */
type PaidWith = { card: CardBehavior } | { recurringToken: string };

/** A parsed creation: only the behavior of its card is left. */
export interface Creation {
  request: CheckoutRequest;
  paidWith?: PaidWith | undefined;
}

interface Revision {
  status: 'approved' | 'declined';
  amount?: number | undefined;
}

export interface PaymentChangesDeps {
  transactions: Transactions;
  payments: Tables['payments'];
  wallets: Pick<Wallets, 'fits' | 'settleNow'>;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
}

/** Of one transaction. */
const expiriesMax = 500;
const tokenBytes = 16;

/** A token of 32 characters. */
export const newTokenOf = (ids: Pick<Ids, 'hex'>): string => ids.hex(tokenBytes);

export type PaymentChanges = ReturnType<typeof createPaymentChanges>;

/** The changes of a payment; undefined means that the payment does not exist. */
export function createPaymentChanges(deps: PaymentChangesDeps) {
  const { transactions, payments, wallets, now, ids } = deps;
  const newToken = (): string => newTokenOf(ids);
  /** Due expiries run first. */
  const customerDoes = (token: string, ...steps: Step[]): Payment | undefined => {
    const payment = payments.find(token);
    return payment && transactions.advance(payment, expireWhenDue, ...steps);
  };
  const merchantDoes = (
    merchant: Merchant,
    token: string,
    objectionTo: (payment: Payment) => ApiError | undefined,
    ...steps: readonly Step[]
  ): Result<Payment> => {
    const payment = transactions.findOwn(merchant, token);
    if (payment === undefined) return { refused: paymentNotFound() };
    const refused = objectionTo(payment);
    return refused === undefined ? { value: transactions.advance(payment, ...steps) } : { refused };
  };
  return {
    create: (merchant: Merchant, creation: Creation) => createUnlessRefused(deps, merchant, creation),
    /** The customer opens the hosted page. */
    open: (token: string) => customerDoes(token, openCheckout),
    submitCard: (token: string, card: CardBehavior) =>
      customerDoes(token, openCheckout, submitCard(card, newToken())),
    answerAuthentication: (token: string, isConfirmed: boolean) =>
      customerDoes(token, answerAuthentication(isConfirmed, newToken())),
    /** The merchant confirms or declines a two-step payment. */
    confirm: (merchant: Merchant, token: string) =>
      merchantDoes(merchant, token, nothingHeld, confirmHold(newToken())),
    decline: (merchant: Merchant, token: string) => merchantDoes(merchant, token, nothingHeld, declineHold),
    /** All the customer's steps on the page at once. */
    pay: (merchant: Merchant, token: string, how: CardBehavior | 'approved' | 'declined') => {
      const recurringToken = newToken();
      const steps =
        typeof how === 'string'
          ? [settleAs(how, recurringToken)]
          : [submitCard(how, recurringToken), answerAuthentication(true, recurringToken)];
      return merchantDoes(merchant, token, nothingLeftToPay, openCheckout, ...steps);
    },
    revise: (merchant: Merchant, token: string, { status, amount }: Revision) => {
      const objectionTo = (payment: Payment) => {
        if (!mayRevise(payment, status)) return notRevisable(payment);
        const fits = status === 'declined' || wallets.fits(payment, amount ?? payment.amount);
        return fits ? undefined : tooMuch();
      };
      return merchantDoes(merchant, token, objectionTo, revise(status, amount));
    },
    /** Makes the payment's money available for payouts. */
    settle: (merchant: Merchant, token: string) => {
      const result = merchantDoes(merchant, token, nothingTaken);
      if (result.value !== undefined) wallets.settleNow(result.value);
      return result;
    },
    /** Expires due payments, up to a limit, and returns the time of the next expiry. */
    expireDue: (): number | undefined => {
      for (const token of payments.tokensDue(now(), expiriesMax)) customerDoes(token);
      return payments.nextExpiry();
    },
  };
}

function createUnlessRefused(
  deps: PaymentChangesDeps,
  merchant: Merchant,
  creation: Creation,
): Result<Payment> {
  const { transactions, payments, now, ids } = deps;
  const { request, paidWith } = creation;
  const charge = chargeOf(deps, merchant, paidWith);
  if (charge === 'unknown token') return { refused: recurringTokenNotFound('recurringToken') };
  const payment = newPayment(request, { token: newTokenOf(ids), merchantId: merchant.id }, now());
  payments.insert(payment);
  return { value: charge === undefined ? payment : transactions.advance(payment, openCheckout, charge) };
}

/** The immediate step of a new payment; undefined if its customer will come to the hosted page. */
function chargeOf(
  { payments, ids }: PaymentChangesDeps,
  merchant: Merchant,
  paidWith: PaidWith | undefined,
): Step | 'unknown token' | undefined {
  if (paidWith === undefined) return undefined;
  if ('card' in paidWith) return submitCard(paidWith.card, newTokenOf(ids));
  const first = payments.findFirstOf(paidWith.recurringToken);
  if (first?.merchantId !== merchant.id) return 'unknown token';
  // The card was valid when the token was issued; it declines if the first payment was revised since.
  return chargeAgain(first, first.status === 'declined' ? 'declined' : 'approved');
}

/** Undefined for another merchant's token as well, which must be indistinguishable from an unknown one. */
export const paymentNotFound = (): ApiError =>
  apiError('payment_not_found', 'There is no payment with this token.', 'token');

/** Undefined for another merchant's payment as well. */
export const recurringTokenNotFound = (parameter: string): ApiError =>
  apiError('recurring_token_not_found', `There is no recurring token like ${parameter}.`, parameter);

const nothingHeld = ({ heldAmount, status }: Payment): ApiError | undefined => {
  if (heldAmount > 0) return undefined;
  return isFinalStatus(status)
    ? apiError('payment_in_final_state', `The payment is already ${status}.`, 'token')
    : apiError('payment_not_confirmable', 'No money of the payment is held.', 'token');
};

const nothingTaken = ({ status }: Payment): ApiError | undefined =>
  status === 'approved'
    ? undefined
    : apiError('invalid_param', `Only an approved payment is settled, and this one is ${status}.`, 'token');

const nothingLeftToPay = (payment: Payment): ApiError | undefined => {
  if (customerStep(payment) !== 'none') return undefined;
  const { heldAmount, currency, status } = payment;
  const state = heldAmount > 0 ? `paid, with ${formatAmount(heldAmount, currency)} held` : status;
  return apiError('payment_in_final_state', `The payment is already ${state}.`, 'token');
};

const notRevisable = (payment: Payment): ApiError =>
  apiError('invalid_param', `status may not be changed to this from ${payment.status}.`, 'status');

const tooMuch = (): ApiError =>
  apiError('incorrect_amount', 'amount is more than the wallet can count.', 'amount');
