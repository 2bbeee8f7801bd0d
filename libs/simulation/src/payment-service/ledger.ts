/**
 * The Payment Service of the simulation; its records are the truth about money. It accepts every call, has no idempotency keys,
 * and does not limit refunds. Preventing double charges and excess refunds is the gateway's job.
 */
import type { Random } from '../world/random.ts';
import { recurringTokenMark } from '../checks/secrets.ts';

export type Outcome = 'pending' | 'approved' | 'declined';
type Status = Outcome | 'init' | 'refunded' | 'expired';

/** Properties common to payments and payouts. */
interface Terms {
  orderNumber: string;
  account: string;
  callbackUrl: string;
  amount: number;
  currency: string;
}

const untouched = {
  /** How often a final status was reversed. */
  revisions: 0,
  /** Shown with a wrong amount, or made for an amount other than the requested one. */
  wasShownWrong: false,
  /** Has a status that the specification does not define. */
  wasShownUnknown: false,
};

const untouchedPayment = {
  ...untouched,
  status: 'init' as Status,
  heldAmount: 0,
  refundedAmount: 0,
  needConfirmation: false,
  /** True if the customer chooses on the service's page. */
  isHosted: false,
  /** It took money once, regardless of its current status. */
  hasTakenMoney: false,
  /** Highest amount ever approved. */
  tookAmount: 0,
  /** Also refunded in the service's console; counted from then on. */
  isCounted: false,
  /** Made earlier by another installation under one of our order numbers. */
  isStranger: false,
  /** Made before Tollgate. */
  isFormer: false,
  /** Yields a recurring token. */
  isRecurring: false,
  /** Recurring token that charges the card again. */
  recurringToken: undefined as string | undefined,
  /** Amount refunded in the service's console. */
  refundedInConsole: 0,
};

type Made = Terms & { token: string; createdAt: number; updatedAt: number };
export type LedgerPayment = Made & typeof untouchedPayment;
export type LedgerPayout = Made & typeof untouched & { status: Outcome };

interface LedgerRefund {
  token: string;
  payment: string;
  amount: number;
  status: Outcome;
  createdAt: number;
}

/** A dispute that a customer's bank has opened. */
export interface LedgerDispute {
  id: string;
  account: string;
  /** The service's token of the payment. */
  payment: string;
  amount: number;
  currency: string;
  /** All statuses so far, latest last. */
  statuses: Outcome[];
  createdAt: number;
  updatedAt: number;
}

/** A change that triggers a callback. */
export interface Changed extends Omit<Terms, 'account'> {
  type: 'payment' | 'refund' | 'payout' | 'dispute';
  token: string;
  status: string;
  recurringToken?: string | undefined;
  /** A final status was reversed. */
  isRevision?: boolean;
}

type Context = ReturnType<typeof createContext>;

function createContext(now: () => number, random: Random, onChanged: (changed: Changed) => void) {
  let count = 0;
  const payments: LedgerPayment[] = [];
  return {
    payments,
    refunds: [] as LedgerRefund[],
    payouts: [] as LedgerPayout[],
    disputes: [] as LedgerDispute[],
    findPayment: (token: string) => payments.find((payment) => payment.token === token),
    now,
    nextToken: (kind: string) => `${kind}-${(count += 1)}-${random.whole(1_000, 9_999)}`,
    onChanged,
  };
}

type NewPayment = Terms & Partial<LedgerPayment> & { ageMs?: number };

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(...given: Parameters<typeof createContext>) {
  const context = createContext(...given);
  return {
    ...context,
    ...paymentsOf(context),
    ...refundsOf(context),
    ...payoutsOf(context),
    ...disputesOf(context),
  };
}

function changePayment(
  { now, nextToken, onChanged }: Context,
  payment: LedgerPayment,
  changes: Partial<LedgerPayment>,
  isRevision = false,
): void {
  Object.assign(payment, changes, { updatedAt: now() });
  const { status, amount, heldAmount } = payment;
  if (status === 'approved' || heldAmount > 0) payment.hasTakenMoney = true;
  if (status === 'approved') payment.tookAmount = Math.max(payment.tookAmount, amount);
  if (payment.isRecurring && payment.hasTakenMoney)
    payment.recurringToken ??= nextToken(`${recurringTokenMark}rt`);
  onChanged({ type: 'payment', ...payment, isRevision });
}

function paymentsOf(context: Context) {
  const { payments, now, nextToken } = context;
  const change = (payment: LedgerPayment, changes: Partial<LedgerPayment>) =>
    changePayment(context, payment, changes);

  function endHold(payment: LedgerPayment, status: Status): boolean {
    if (payment.status !== 'pending' || payment.heldAmount === 0) return false;
    change(payment, { status, heldAmount: 0 });
    return true;
  }

  return {
    /** Includes payments made before Tollgate or by another installation. */
    add: ({ ageMs = 0, ...terms }: NewPayment): LedgerPayment => {
      const at = Math.floor(now() - ageMs);
      const times = { createdAt: at, updatedAt: at };
      const payment: LedgerPayment = { ...untouchedPayment, ...times, ...terms, token: nextToken('pay') };
      if (payment.isRecurring && payment.hasTakenMoney)
        payment.recurringToken = nextToken(`${recurringTokenMark}rt`);
      payments.push(payment);
      return payment;
    },
    /** The customer has paid, or was declined. */
    pay: (payment: LedgerPayment, isApproved: boolean) => {
      if (payment.status !== 'init') return;
      if (!isApproved) change(payment, { status: 'declined' });
      else if (payment.needConfirmation) change(payment, { status: 'pending', heldAmount: payment.amount });
      else change(payment, { status: 'approved' });
    },
    expire: (payment: LedgerPayment) => {
      if (payment.status === 'init' || payment.status === 'pending')
        change(payment, { status: 'expired', heldAmount: 0 });
    },
    capture: (payment: LedgerPayment) => endHold(payment, 'approved'),
    void: (payment: LedgerPayment) => endHold(payment, 'declined'),
    /** Reverses a final status. */
    revise: (payment: LedgerPayment, to: Status) => {
      payment.revisions += 1;
      changePayment(context, payment, { status: to, heldAmount: 0 }, true);
    },
    /** Reversed and approved again with another amount; the state in between is not observable. */
    reviseAmount: (payment: LedgerPayment, amount: number) => {
      payment.revisions += 2;
      changePayment(context, payment, { amount, isCounted: true }, true);
    },
  };
}

function refundsOf(context: Context) {
  const { refunds, findPayment, now, nextToken, onChanged } = context;
  const waitingFor = ({ token }: LedgerPayment) =>
    refunds
      .filter(({ payment, status }) => payment === token && status === 'pending')
      .reduce((sum, { amount }) => sum + amount, 0);
  // Preventing excess refunds is the gateway's job, unless the service has shown a wrong amount itself.
  const isCounted = (payment: LedgerPayment) => payment.isCounted || payment.wasShownWrong;
  const isRefundable = (payment: LedgerPayment, amount: number) =>
    payment.status === 'approved' &&
    (!isCounted(payment) || payment.refundedAmount + waitingFor(payment) + amount <= payment.amount);

  function giveBack(payment: LedgerPayment, amount: number): void {
    const refundedAmount = payment.refundedAmount + amount;
    const status = refundedAmount >= payment.amount ? 'refunded' : payment.status;
    changePayment(context, payment, { refundedAmount, status });
  }

  function decideRefund(refund: LedgerRefund, status: 'approved' | 'declined'): void {
    const payment = findPayment(refund.payment);
    if (refund.status !== 'pending' || payment === undefined) return;
    refund.status = payment.status === 'approved' ? status : 'declined';
    onChanged({ ...payment, type: 'refund', ...refund });
    if (refund.status === 'approved') giveBack(payment, refund.amount);
  }

  return {
    decideRefund,
    refund: (payment: LedgerPayment, amount: number, status: Outcome) => {
      if (!isRefundable(payment, amount)) return undefined;
      const refund: LedgerRefund = {
        token: nextToken('ref'),
        payment: payment.token,
        amount,
        status: 'pending',
        createdAt: now(),
      };
      refunds.push(refund);
      if (status !== 'pending') decideRefund(refund, status);
      return refund;
    },
    refundInConsole: (payment: LedgerPayment, amount: number): void => {
      payment.isCounted = true;
      if (!isRefundable(payment, amount)) return;
      payment.refundedInConsole += amount;
      giveBack(payment, amount);
    },
  };
}

function payoutsOf({ payouts, now, nextToken, onChanged }: Context) {
  return {
    payOut: (terms: Terms, status: Outcome): LedgerPayout => {
      const at = now();
      const token = nextToken('out');
      const payout = { ...terms, ...untouched, token, status, createdAt: at, updatedAt: at };
      payouts.push(payout);
      return payout;
    },
    decidePayout: (payout: LedgerPayout, status: 'approved' | 'declined') => {
      if (payout.status !== 'pending') return;
      Object.assign(payout, { status, updatedAt: now() });
      onChanged({ type: 'payout', ...payout });
    },
    /** Reverses a final status: the money was sent after all, was returned, or is pending again. */
    revisePayout: (payout: LedgerPayout, status: Outcome) => {
      Object.assign(payout, { status, updatedAt: now(), revisions: payout.revisions + 1 });
      onChanged({ type: 'payout', ...payout, isRevision: true });
    },
  };
}

function disputesOf({ disputes, findPayment, now, nextToken, onChanged }: Context) {
  function change(dispute: LedgerDispute, status: Outcome): void {
    dispute.statuses.push(status);
    dispute.updatedAt = now();
    const payment = findPayment(dispute.payment);
    if (payment !== undefined)
      onChanged({ ...payment, type: 'dispute', amount: dispute.amount, status, isRevision: false });
  }

  return {
    changeDispute: change,
    openDispute: ({ token, account, currency }: LedgerPayment, amount: number): LedgerDispute => {
      const [id, at] = [nextToken('dis'), now()];
      const times = { createdAt: at, updatedAt: at };
      const dispute = { id, account, payment: token, amount, currency, statuses: [], ...times };
      disputes.push(dispute);
      change(dispute, 'pending');
      return dispute;
    },
  };
}
