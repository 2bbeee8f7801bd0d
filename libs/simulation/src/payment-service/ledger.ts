/**
 * The Payment Service of the simulation: what it has is the truth about money. It takes every call as it comes, knows no
 * idempotency key, and does not count our refunds: that nobody is charged twice, and no more refunded than was paid, is the
 * gateway's business.
 */
import type { Random } from '../world/random.ts';
import { recurringTokenMark } from '../checks/secrets.ts';

type Status = 'init' | 'pending' | 'approved' | 'declined' | 'refunded' | 'expired';

export interface LedgerPayment {
  token: string;
  orderNumber: string;
  account: string;
  callbackUrl: string;
  amount: number;
  currency: string;
  status: Status;
  heldAmount: number;
  refundedAmount: number;
  needConfirmation: boolean;
  /** True where the customer chooses on the service's page. */
  isHosted: boolean;
  createdAt: number;
  updatedAt: number;
  /** Whatever the status is by now: it took money once. */
  hasTakenMoney: boolean;
  /** Another installation made it under the number that is ours, long ago. */
  isStranger: boolean;
  /** Refunded in the service's console, too: from then on it counts. */
  isCounted: boolean;
  /** What was refunded there. */
  refundedInConsole: number;
  /** How often a final status was taken back. */
  revisions: number;
  /** It was shown with another amount than it has. */
  wasShownWrong: boolean;
  /** With a status that the specification does not name. */
  wasShownUnknown: boolean;
  /** Whoever was there before us made it. */
  isFormer?: boolean;
  /** It is to yield a recurring token. */
  isRecurring: boolean;
  /** Charges its card again. */
  recurringToken?: string;
}

export interface LedgerRefund {
  token: string;
  payment: string;
  amount: number;
  status: 'pending' | 'approved' | 'declined';
}

export interface LedgerPayout {
  token: string;
  orderNumber: string;
  account: string;
  callbackUrl: string;
  amount: number;
  currency: string;
  status: 'pending' | 'approved' | 'declined';
  createdAt: number;
  updatedAt: number;
  /** It was shown with another amount than was asked for. */
  wasShownWrong: boolean;
  /** With a status that the specification does not name. */
  wasShownUnknown: boolean;
  /** How often a final status was taken back. */
  revisions: number;
}

export type DisputeStatus = 'pending' | 'approved' | 'declined';

/** Money that the bank of a customer wants back. */
export interface LedgerDispute {
  id: string;
  account: string;
  /** The service's token of the payment. */
  payment: string;
  amount: number;
  currency: string;
  /** What it has been, the latest last. */
  statuses: DisputeStatus[];
  createdAt: number;
  updatedAt: number;
}

/** Something that has changed, of which a callback tells. */
export interface Changed {
  type: 'payment' | 'refund' | 'payout' | 'dispute';
  token: string;
  status: string;
  orderNumber: string;
  amount: number;
  currency: string;
  callbackUrl: string;
  recurringToken?: string;
  /** A final status was taken back. */
  isRevision?: boolean;
}

interface Entries {
  payments: LedgerPayment[];
  refunds: LedgerRefund[];
  payouts: LedgerPayout[];
  disputes: LedgerDispute[];
}

interface Context {
  entries: Entries;
  now: () => number;
  nextToken: (kind: string) => string;
  onChanged: (changed: Changed) => void;
}

type NewPayment = Pick<
  LedgerPayment,
  | 'orderNumber'
  | 'account'
  | 'callbackUrl'
  | 'amount'
  | 'currency'
  | 'needConfirmation'
  | 'isHosted'
  | 'isRecurring'
>;
type NewPayout = Pick<LedgerPayout, 'orderNumber' | 'account' | 'callbackUrl' | 'amount' | 'currency'>;

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(now: () => number, random: Random, onChanged: (changed: Changed) => void) {
  let count = 0;
  const nextToken = (kind: string) => `${kind}-${(count += 1)}-${random.whole(1_000, 9_999)}`;
  const entries: Entries = { payments: [], refunds: [], payouts: [], disputes: [] };
  const context = { entries, now, nextToken, onChanged };
  return {
    ...entries,
    ...paymentsOf(context),
    ...refundsOf(context),
    ...payoutsOf(context),
    ...disputesOf(context),
  };
}

const isHeld = ({ status, heldAmount }: LedgerPayment) => status === 'pending' && heldAmount > 0;

function changePayment(
  { now, nextToken, onChanged }: Context,
  payment: LedgerPayment,
  changes: Partial<LedgerPayment>,
  isRevision = false,
): void {
  Object.assign(payment, changes, { updatedAt: now() });
  if (payment.status === 'approved' || payment.heldAmount > 0) payment.hasTakenMoney = true;
  if (payment.isRecurring && payment.hasTakenMoney)
    payment.recurringToken ??= nextToken(`${recurringTokenMark}rt`);
  onChanged({ type: 'payment', ...payment, isRevision });
}

const untouched = {
  status: 'init' as const,
  heldAmount: 0,
  refundedAmount: 0,
  hasTakenMoney: false,
  isCounted: false,
  isStranger: false,
  wasShownWrong: false,
  wasShownUnknown: false,
  refundedInConsole: 0,
  revisions: 0,
};

function paymentsOf(context: Context) {
  const { entries, now, nextToken } = context;
  const change = (payment: LedgerPayment, changes: Partial<LedgerPayment>) =>
    changePayment(context, payment, changes);

  function add(terms: NewPayment, more: Partial<LedgerPayment> = {}): LedgerPayment {
    const at = now();
    const times = { createdAt: at, updatedAt: at };
    const payment: LedgerPayment = { ...terms, token: nextToken('pay'), ...untouched, ...times, ...more };
    entries.payments.push(payment);
    return payment;
  }

  return {
    findPayment: (token: string) => entries.payments.find((payment) => payment.token === token),
    create: (terms: NewPayment) => add(terms),
    /** Made by whoever was there before us. */
    addFormer: (terms: NewPayment, { ageMs, ...left }: Partial<LedgerPayment> & { ageMs: number }) => {
      const payment = add(terms, { ...left, createdAt: Math.floor(now() - ageMs), isFormer: true });
      if (payment.isRecurring && payment.hasTakenMoney)
        payment.recurringToken = nextToken(`${recurringTokenMark}rt`);
      return payment;
    },
    /** Another installation's payment under a number that is ours. */
    addStranger: (terms: NewPayment) =>
      add(terms, {
        createdAt: now() - 86_400_000,
        status: 'approved',
        isStranger: true,
        recurringToken: `${recurringTokenMark}of-a-stranger`,
      }),
    /** The customer has paid, or was refused. */
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
    capture: (payment: LedgerPayment): boolean => {
      if (!isHeld(payment)) return false;
      change(payment, { status: 'approved', heldAmount: 0 });
      return true;
    },
    void: (payment: LedgerPayment): boolean => {
      if (!isHeld(payment)) return false;
      change(payment, { status: 'declined', heldAmount: 0 });
      return true;
    },
    /** A final status is taken back. */
    revise: (payment: LedgerPayment, to: Status) => {
      payment.revisions += 1;
      changePayment(context, payment, { status: to, heldAmount: 0 }, true);
    },
    /** Taken back, and approved again with another amount: nobody sees it in between. */
    reviseAmount: (payment: LedgerPayment, amount: number) => {
      payment.revisions += 2;
      changePayment(context, payment, { amount, isCounted: true }, true);
    },
  };
}

function refundsOf(context: Context) {
  const { entries, nextToken, onChanged } = context;
  const waitingFor = ({ token }: LedgerPayment) =>
    entries.refunds
      .filter(({ payment, status }) => payment === token && status === 'pending')
      .reduce((sum, { amount }) => sum + amount, 0);
  // It leaves it to the gateway not to refund too much, unless it has shown too much itself (seed 17476).
  const isCounted = (payment: LedgerPayment) => payment.isCounted || payment.wasShownWrong;
  const isRefundable = (payment: LedgerPayment, amount: number) =>
    payment.status === 'approved' &&
    (!isCounted(payment) || payment.refundedAmount + waitingFor(payment) + amount <= payment.amount);

  function giveBack(payment: LedgerPayment, amount: number): void {
    const refundedAmount = payment.refundedAmount + amount;
    const status = refundedAmount >= payment.amount ? { status: 'refunded' as const } : {};
    changePayment(context, payment, { refundedAmount, ...status });
  }

  function decideRefund(refund: LedgerRefund, status: 'approved' | 'declined'): void {
    const payment = entries.payments.find(({ token }) => token === refund.payment);
    if (refund.status !== 'pending' || payment === undefined) return;
    refund.status = status === 'approved' && payment.status !== 'approved' ? 'declined' : status;
    const { currency, callbackUrl, orderNumber } = payment;
    onChanged({ type: 'refund', ...refund, currency, callbackUrl, orderNumber });
    if (refund.status === 'approved') giveBack(payment, refund.amount);
  }

  return {
    decideRefund,
    refund: (payment: LedgerPayment, amount: number, status: LedgerRefund['status']) => {
      if (!isRefundable(payment, amount)) return undefined;
      const token = nextToken('ref');
      const refund: LedgerRefund = { token, payment: payment.token, amount, status: 'pending' };
      entries.refunds.push(refund);
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

function payoutsOf({ entries, now, nextToken, onChanged }: Context) {
  return {
    payOut: (terms: NewPayout, status: LedgerPayout['status']): LedgerPayout => {
      const at = now();
      const payout: LedgerPayout = {
        ...terms,
        token: nextToken('out'),
        status,
        createdAt: at,
        wasShownWrong: false,
        wasShownUnknown: false,
        revisions: 0,
        updatedAt: at,
      };
      entries.payouts.push(payout);
      return payout;
    },
    decidePayout: (payout: LedgerPayout, status: 'approved' | 'declined') => {
      if (payout.status !== 'pending') return;
      Object.assign(payout, { status, updatedAt: now() });
      onChanged({ type: 'payout', ...payout });
    },
    /** A final status is taken back: the money went out after all, or has come back, or it is under way again. */
    revisePayout: (payout: LedgerPayout, status: LedgerPayout['status']) => {
      Object.assign(payout, { status, updatedAt: now(), revisions: payout.revisions + 1 });
      onChanged({ type: 'payout', ...payout, isRevision: true });
    },
  };
}

function disputesOf({ entries, now, nextToken, onChanged }: Context) {
  function tell({ payment: token, amount, currency, statuses }: LedgerDispute): void {
    const payment = entries.payments.find((each) => each.token === token);
    if (payment === undefined) return;
    const { callbackUrl, orderNumber } = payment;
    onChanged({
      type: 'dispute',
      token,
      orderNumber,
      amount,
      currency,
      callbackUrl,
      status: statuses.at(-1) ?? '',
    });
  }

  return {
    openDispute: ({ token, account, currency }: LedgerPayment, amount: number): LedgerDispute => {
      const at = now();
      const dispute: LedgerDispute = {
        id: nextToken('dis'),
        account,
        payment: token,
        amount,
        currency,
        statuses: ['pending'],
        createdAt: at,
        updatedAt: at,
      };
      entries.disputes.push(dispute);
      tell(dispute);
      return dispute;
    },
    changeDispute: (dispute: LedgerDispute, status: DisputeStatus): void => {
      dispute.statuses.push(status);
      dispute.updatedAt = now();
      tell(dispute);
    },
  };
}
