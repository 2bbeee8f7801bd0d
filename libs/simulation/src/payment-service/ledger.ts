/**
 * The Payment Service of the simulation; its records are the truth about money. It accepts every call, has no idempotency keys,
 * and does not limit refunds. Preventing double charges and excess refunds is the gateway's job.
 */
import type { Random } from '../world/random.ts';
import { recurringTokenMark } from '../checks/secrets.ts';

type Status = 'init' | 'pending' | 'approved' | 'declined' | 'refunded' | 'expired';

/** Properties common to payments and payouts. */
interface Entry {
  token: string;
  orderNumber: string;
  account: string;
  callbackUrl: string;
  amount: number;
  currency: string;
  createdAt: number;
  updatedAt: number;
  /** How often a final status was reversed. */
  revisions: number;
  /** Shown with a wrong amount, or made for an amount other than the requested one. */
  wasShownWrong: boolean;
  /** Has a status that the specification does not define. */
  wasShownUnknown: boolean;
}

export interface LedgerPayment extends Entry {
  status: Status;
  heldAmount: number;
  refundedAmount: number;
  needConfirmation: boolean;
  /** True if the customer chooses on the service's page. */
  isHosted: boolean;
  /** It took money once, regardless of its current status. */
  hasTakenMoney: boolean;
  /** Highest amount ever approved. */
  tookAmount: number;
  /** Made earlier by another installation under one of our order numbers. */
  isStranger: boolean;
  /** Also refunded in the service's console; counted from then on. */
  isCounted: boolean;
  /** Amount refunded in the service's console. */
  refundedInConsole: number;
  /** Made before Tollgate. */
  isFormer: boolean;
  /** Yields a recurring token. */
  isRecurring: boolean;
  /** Recurring token that charges the card again. */
  recurringToken?: string;
}

interface LedgerRefund {
  token: string;
  payment: string;
  amount: number;
  status: 'pending' | 'approved' | 'declined';
  createdAt: number;
}

export interface LedgerPayout extends Entry {
  status: 'pending' | 'approved' | 'declined';
}

export type DisputeStatus = 'pending' | 'approved' | 'declined';

/** A dispute that a customer's bank has opened. */
export interface LedgerDispute {
  id: string;
  account: string;
  /** The service's token of the payment. */
  payment: string;
  amount: number;
  currency: string;
  /** All statuses so far, latest last. */
  statuses: DisputeStatus[];
  createdAt: number;
  updatedAt: number;
}

/** A change that triggers a callback. */
export interface Changed extends Pick<
  Entry,
  'token' | 'orderNumber' | 'amount' | 'currency' | 'callbackUrl'
> {
  type: 'payment' | 'refund' | 'payout' | 'dispute';
  status: string;
  recurringToken?: string;
  /** A final status was reversed. */
  isRevision?: boolean;
}

interface Context {
  payments: LedgerPayment[];
  refunds: LedgerRefund[];
  payouts: LedgerPayout[];
  disputes: LedgerDispute[];
  findPayment: (token: string) => LedgerPayment | undefined;
  now: () => number;
  nextToken: (kind: string) => string;
  onChanged: (changed: Changed) => void;
}

type Terms = Pick<Entry, 'orderNumber' | 'account' | 'callbackUrl' | 'amount' | 'currency'>;
type NewPayment = Terms & Partial<LedgerPayment> & { ageMs?: number };

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(now: () => number, random: Random, onChanged: (changed: Changed) => void) {
  let count = 0;
  const payments: LedgerPayment[] = [];
  const context: Context = {
    payments,
    refunds: [],
    payouts: [],
    disputes: [],
    findPayment: (token) => payments.find((payment) => payment.token === token),
    now,
    nextToken: (kind) => `${kind}-${(count += 1)}-${random.whole(1_000, 9_999)}`,
    onChanged,
  };
  return {
    ...context,
    ...paymentsOf(context),
    ...refundsOf(context),
    ...payoutsOf(context),
    ...disputesOf(context),
  };
}

const untouched = { revisions: 0, wasShownWrong: false, wasShownUnknown: false };

const untouchedPayment = {
  ...untouched,
  status: 'init' as const,
  heldAmount: 0,
  refundedAmount: 0,
  needConfirmation: false,
  isHosted: false,
  hasTakenMoney: false,
  tookAmount: 0,
  isCounted: false,
  isStranger: false,
  isFormer: false,
  isRecurring: false,
  refundedInConsole: 0,
};

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
    refund: (payment: LedgerPayment, amount: number, status: LedgerRefund['status']) => {
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
    payOut: (terms: Terms, status: LedgerPayout['status']): LedgerPayout => {
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
    revisePayout: (payout: LedgerPayout, status: LedgerPayout['status']) => {
      Object.assign(payout, { status, updatedAt: now(), revisions: payout.revisions + 1 });
      onChanged({ type: 'payout', ...payout, isRevision: true });
    },
  };
}

function disputesOf({ disputes, findPayment, now, nextToken, onChanged }: Context) {
  function change(dispute: LedgerDispute, status: DisputeStatus): void {
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
