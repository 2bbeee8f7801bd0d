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

function change<Operation extends LedgerPayment | LedgerPayout>(
  { now, nextToken, onChanged }: Context,
  operation: Operation,
  changes: Partial<Operation>,
  isRevision = false,
): void {
  Object.assign(operation, changes, { updatedAt: now() });
  const isPayment = 'heldAmount' in operation;
  if (isPayment) {
    const { status, amount, heldAmount } = operation;
    if (status === 'approved' || heldAmount > 0) operation.hasTakenMoney = true;
    if (status === 'approved') operation.tookAmount = Math.max(operation.tookAmount, amount);
    if (operation.isRecurring && operation.hasTakenMoney)
      operation.recurringToken ??= nextToken(`${recurringTokenMark}rt`);
  }
  onChanged({ type: isPayment ? 'payment' : 'payout', ...operation, isRevision });
}

function paymentsOf(context: Context) {
  const { payments, now, nextToken } = context;

  function endHold(payment: LedgerPayment, status: Status): boolean {
    if (payment.status !== 'pending' || payment.heldAmount === 0) return false;
    change(context, payment, { status, heldAmount: 0 });
    return true;
  }

  return {
    /** Includes payments made before Tollgate or by another installation. */
    add: ({ ageMs = 0, ...terms }: NewPayment): LedgerPayment => {
      const at = Math.floor(now() - ageMs);
      const times = { createdAt: at, updatedAt: at };
      const payment: LedgerPayment = { ...untouchedPayment, ...times, ...terms, token: nextToken('pay') };
      payments.push(payment);
      return payment;
    },
    /** The customer has paid, or was declined. */
    pay: (payment: LedgerPayment, isApproved: boolean) => {
      if (payment.status !== 'init') return;
      const isHeld = isApproved && payment.needConfirmation;
      const status = isHeld ? 'pending' : isApproved ? 'approved' : 'declined';
      change(context, payment, { status, heldAmount: isHeld ? payment.amount : 0 });
    },
    expire: (payment: LedgerPayment) => {
      if (payment.status === 'init' || payment.status === 'pending')
        change(context, payment, { status: 'expired', heldAmount: 0 });
    },
    capture: (payment: LedgerPayment) => endHold(payment, 'approved'),
    void: (payment: LedgerPayment) => endHold(payment, 'declined'),
    /** Reverses a final status. A payout was sent after all, was returned, or is pending again. */
    revise: <Operation extends LedgerPayment | LedgerPayout>(
      operation: Operation,
      status: Operation['status'],
    ) => {
      operation.revisions += 1;
      change<LedgerPayment | LedgerPayout>(context, operation, { status }, true);
    },
    /** Reversed and approved again with another amount; the state in between is not observable. */
    reviseAmount: (payment: LedgerPayment, amount: number) => {
      payment.revisions += 2;
      change(context, payment, { amount, isCounted: true }, true);
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
    change(context, payment, { refundedAmount, status });
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

function payoutsOf(context: Context) {
  const { payouts, now, nextToken } = context;
  return {
    payOut: (terms: Terms, status: Outcome): LedgerPayout => {
      const at = now();
      const token = nextToken('out');
      const payout = { ...terms, ...untouched, token, status, createdAt: at, updatedAt: at };
      payouts.push(payout);
      return payout;
    },
    decidePayout: (payout: LedgerPayout, status: 'approved' | 'declined') => {
      if (payout.status === 'pending') change(context, payout, { status });
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
