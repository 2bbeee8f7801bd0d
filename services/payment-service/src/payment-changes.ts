/** Every change of a payment as one transaction: the record, its callback, and nothing in between. */
import { apiError, formatAmount, type ApiError } from '@tollgate/payment-api';
import type { Ids } from '@tollgate/service-kit';
import { queueCallback } from './callbacks.ts';
import type { CardBehaviour } from './cards.ts';
import { queueFaults, type Faults } from './faults.ts';
import {
  answerAuthentication,
  customerStep,
  expireWhenDue,
  isNews,
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
import type { CallbackQueue } from './storage/callback-queue.ts';
import type { Database } from './storage/database.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { PaymentsTable } from './storage/payments-table.ts';

/** A payment, or why the change was refused; nothing was changed then. */
export type Changed = { payment: Payment; refused?: never } | { refused: ApiError; payment?: never };

/** What is written in the same transaction as a creation: its record in the log of calls. */
export type AlsoWrite = (changed: Changed) => void;

/** The changes of a payment. Each resolves when it is durable. */
export interface PaymentChanges {
  create(merchant: Merchant, request: CheckoutRequest, alsoWrite: AlsoWrite): Promise<Changed>;
  /** The customer opens the hosted page. Undefined: there is no such payment; likewise below. */
  open(token: string): Promise<Payment | undefined>;
  submitCard(token: string, card: CardBehaviour): Promise<Payment | undefined>;
  answerAuthentication(token: string, isConfirmed: boolean): Promise<Payment | undefined>;
  /** What the customer would do on the page, all at once. */
  pay(merchant: Merchant, token: string, how: CardBehaviour | 'approved' | 'declined'): Promise<Changed>;
  revise(merchant: Merchant, token: string, to: Revision): Promise<Changed>;
  /** Expires what is due and gives the time of the next expiry. */
  expireDue(): Promise<number | undefined>;
}

export interface Revision {
  status: 'approved' | 'declined';
  amount?: number | undefined;
}

export interface PaymentChangesDeps {
  database: Pick<Database, 'write'>;
  payments: PaymentsTable;
  queue: CallbackQueue;
  faults: Faults;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
  /** Told, after the commit, that a callback may be due. */
  onCallbackDue: (dueAt: number) => void;
}

const expiriesPerCommitMax = 500;
const tokenBytes = 16;

export function createPaymentChanges(deps: PaymentChangesDeps): PaymentChanges {
  const { payments, now, ids } = deps;
  const { customerDoes, merchantDoes } = createTransactions(deps);
  const newToken = (): string => ids.hex(tokenBytes);

  return {
    create: (merchant, request, alsoWrite) =>
      deps.database.write(() => {
        const created = createUnlessTaken(deps, merchant, request, newToken());
        alsoWrite(created);
        return created;
      }),
    open: (token) => customerDoes(token, openCheckout),
    submitCard: (token, card) => customerDoes(token, openCheckout, submitCard(card, newToken())),
    answerAuthentication: (token, isConfirmed) =>
      customerDoes(token, answerAuthentication(isConfirmed, newToken())),
    pay: (merchant, token, how) => {
      const recurringToken = newToken();
      const steps =
        typeof how === 'string'
          ? [settleAs(how, recurringToken)]
          : [submitCard(how, recurringToken), answerAuthentication(true, recurringToken)];
      return merchantDoes(merchant, token, nothingLeftToPay, openCheckout, ...steps);
    },
    revise: (merchant, token, { status, amount }) => {
      const objection = (payment: Payment) =>
        mayRevise(payment, status) ? undefined : notRevisable(payment);
      return merchantDoes(merchant, token, objection, revise(status, amount));
    },
    expireDue: async () => {
      const due = payments.tokensDue(now(), expiriesPerCommitMax);
      await Promise.all(due.map((token) => customerDoes(token)));
      return payments.nextExpiry();
    },
  };
}

/** Runs inside a transaction. */
function createUnlessTaken(
  { payments, now }: PaymentChangesDeps,
  merchant: Merchant,
  request: CheckoutRequest,
  token: string,
): Changed {
  const { orderNumber } = request;
  const mustBeUnique = merchant.uniqueOrderNumber && orderNumber !== undefined;
  if (mustBeUnique && payments.existsOrderNumber(merchant.id, orderNumber))
    return { refused: orderNumberTaken() };
  const payment = newPayment(request, { token, merchantId: merchant.id }, now());
  payments.insert(payment);
  return { payment };
}

/** The transactions in which a customer or a merchant takes a payment some steps further; what is due expires first. */
function createTransactions({ database, payments, queue, faults, now, onCallbackDue }: PaymentChangesDeps) {
  const advance = (payment: Payment, steps: readonly Step[]): Payment => {
    const at = now();
    let current = payment;
    for (const step of steps) {
      const next = step(current, at);
      if (isNews(current, next))
        queueCallback(queue, next, faults.take(next.merchantId, 'callback', queueFaults), at);
      current = next;
    }
    if (current !== payment) payments.update(current);
    return current;
  };
  const write = async <Value>(transaction: () => Value): Promise<Value> => {
    const value = await database.write(transaction);
    onCallbackDue(now());
    return value;
  };
  return {
    customerDoes: (token: string, ...steps: Step[]): Promise<Payment | undefined> =>
      write(() => {
        const payment = payments.find(token);
        return payment === undefined ? undefined : advance(payment, [expireWhenDue, ...steps]);
      }),
    merchantDoes: (
      merchant: Merchant,
      token: string,
      objection: (payment: Payment) => ApiError | undefined,
      ...steps: Step[]
    ): Promise<Changed> =>
      write(() => {
        const found = payments.find(token);
        if (found?.merchantId !== merchant.id) return { refused: paymentNotFound() };
        const payment = advance(found, [expireWhenDue]);
        const refused = objection(payment);
        return refused === undefined ? { payment: advance(payment, steps) } : { refused };
      }),
  };
}

/** Also for another merchant's token, which must not be told from one that does not exist. */
export const paymentNotFound = (): ApiError =>
  apiError('payment_not_found', 'There is no payment with this token.', 'token');

const orderNumberTaken = (): ApiError =>
  apiError('order_number_already_exists', 'There is already a payment with this orderNumber.', 'orderNumber');

const nothingLeftToPay = (payment: Payment): ApiError | undefined => {
  if (customerStep(payment) !== 'none') return undefined;
  const { heldAmount, currency, status } = payment;
  const state = heldAmount > 0 ? `paid, with ${formatAmount(heldAmount, currency)} held` : status;
  return apiError('payment_in_final_state', `The payment is already ${state}.`, 'token');
};

const notRevisable = (payment: Payment): ApiError =>
  apiError('invalid_param', `status may not be changed to this from ${payment.status}.`, 'status');
