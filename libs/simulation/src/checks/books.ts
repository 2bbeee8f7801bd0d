/**
 * The gateway's records, folded from its events without any of the gateway's own code. A bug in how the gateway reads its events
 * is therefore not a bug of the check.
 */
import type { RecordedEvent } from '@tollgate/event-store';

export interface Announced {
  /** True time of the append. @unit milliseconds */
  at: number;
  /** True time of the first byte sent; undefined before that. @unit milliseconds */
  sentAt?: number;
  /** Recorded as not found: it must never be sent from then on. */
  isGivenUp?: boolean;
  amount?: number;
}

interface RefundOnRecord {
  amount: number;
  state: 'reserved' | 'accepted' | 'approved' | 'declined';
}

export interface ReviewOnRecord {
  code: string;
  evidence: Readonly<Record<string, unknown>>;
}

export type OperationOnRecord = ReturnType<typeof begin>;

export type Complain = (invariant: string, text: string) => void;

export type Books = ReturnType<typeof createBooks>;

type Data = Record<string, unknown>;
const numberIn = (data: Data, name: string): number => Number(data[name] ?? 0);
const textIn = (data: Data, name: string): string => (typeof data[name] === 'string' ? data[name] : '');
const objectIn = (data: Data, name: string): Data => (data[name] ?? {}) as Data;

/** The sum of the amounts, or of another number of each item. */
export const sumOf = <Item extends { amount: number }>(
  items: Iterable<Item>,
  numberOf = ({ amount }: Item) => amount,
): number => Iterator.from(items).reduce((sum, item) => sum + numberOf(item), 0);

export const isPaid = ({ phase }: OperationOnRecord): boolean => phase === 'approved' || phase === 'refunded';

/** A payout that awaits approval moves no money until it is sent. */
const movesNothing = new Set(['failed', 'declined', 'awaiting_approval', 'approval_granted']);

/** Money of a payment available for refunds and payouts; negative for a payout. */
export function leftOf(operation: OperationOnRecord): number {
  const { kind, phase, amount, approvedAmount, refundedAmount, refunds } = operation;
  if (kind === 'payout') return movesNothing.has(phase) ? 0 : -amount;
  if (!isPaid(operation)) return 0;
  const reserved = refunds.values().filter(({ state }) => state === 'reserved' || state === 'accepted');
  return approvedAmount - refundedAmount - sumOf(reserved) - wantedBack(operation);
}

/** Amounts in open or lost disputes. */
export const wantedBack = ({ disputes }: Pick<OperationOnRecord, 'disputes'>): number =>
  sumOf(disputes.values().filter(({ state }) => state !== 'won'));

/** In review for any reason except a dispute, which the bank decides. */
export const isInReview = ({ reviews }: Pick<OperationOnRecord, 'reviews'>): boolean =>
  [...reviews.values()].some(({ code }) => code !== 'dispute_opened');

/** It is unknown whether the payment exists. */
export const isAwaited = ({ phase }: Pick<OperationOnRecord, 'phase'>): boolean =>
  phase === 'requested' || phase === 'unresolved';
const finalPhases = new Set(['approved', 'declined', 'voided', 'expired', 'refunded', 'failed']);
export const isFinal = ({ phase }: Pick<OperationOnRecord, 'phase'>): boolean => finalPhases.has(phase);

function begin(token: string, kind: 'payment' | 'payout', data: Data) {
  return {
    token,
    kind,
    team: textIn(data, 'team'),
    /** The team, which never changes. */
    wallet: textIn(data, 'wallet'),
    /** The merchant account. */
    account: textIn(data, 'account'),
    phase: 'requested',
    amount: numberIn(objectIn(data, 'terms'), 'amount'),
    /** The keys that requested and approved a payout above the approval threshold. */
    askedBy: undefined as string | undefined,
    grantedBy: undefined as string | undefined,
    isRefused: false,
    /** Made before Tollgate; counts after an operator has adopted it. */
    isAdopted: false,
    isPayable: true,
    /** A person resolved a review wrongly; the record may differ from the provider permanently. */
    isMisjudged: false,
    /** A wrong resolution by an operator released money. */
    isFreed: false,
    /** Disputed amounts, by dispute token. */
    disputes: new Map<string, { state: 'opened' | 'won' | 'lost'; amount: number }>(),
    serviceToken: undefined as string | undefined,
    approvedAmount: 0,
    refundedAmount: 0,
    /** Amount refunded outside the gateway. */
    externalAmount: 0,
    /** Number of reversed final statuses. */
    revisions: 0,
    refunds: new Map<string, RefundOnRecord>(),
    /** Announced creations and payouts, by order number. */
    attempts: new Map<string, Announced>(),
    /** Announced captures, voids and refunds, by the last part of their path. */
    calls: { confirm: [] as Announced[], decline: [] as Announced[], refunds: [] as Announced[] },
    /** Open reviews, by number. */
    reviews: new Map<number, ReviewOnRecord>(),
    reviewCount: 0,
    /** True time of the last recorded event. @unit milliseconds */
    changedAt: 0,
    events: [] as string[],
  };
}

export function createBooks(complain: Complain) {
  const operations = new Map<string, OperationOnRecord>();
  const byOrderNumber = new Map<string, OperationOnRecord>();

  return {
    /** @returns the operation of the event; undefined if it is about neither a payment nor a payout */
    apply: ({ stream, type, data, revision }: RecordedEvent, at: number): OperationOnRecord | undefined => {
      const [, kind, token] = /^(payment|payout)-(.+)$/.exec(stream) ?? [];
      if ((kind !== 'payment' && kind !== 'payout') || token === undefined) return undefined;
      if (revision === 0 && operations.has(token)) complain('I11', `${stream} began twice`);
      const operation = operations.get(token) ?? begin(token, kind, data as Data);
      operations.set(token, operation);
      operation.changedAt = at;
      operation.events.push(type);
      steps[type]?.(operation, data as Data, { at, byOrderNumber, complain });
      return operation;
    },
    find: (token: string): OperationOnRecord | undefined => operations.get(token),
    /** The operation that has an attempt with this order number. */
    byOrderNumber: (orderNumber: string): OperationOnRecord | undefined => byOrderNumber.get(orderNumber),
    all: (): readonly OperationOnRecord[] => [...operations.values()],
  };
}

interface Tools {
  at: number;
  byOrderNumber: Map<string, OperationOnRecord>;
  complain: Complain;
}

function announce(operation: OperationOnRecord, attempt: Data, { at, byOrderNumber }: Tools): void {
  const orderNumber = textIn(attempt, 'providerOrderNumber');
  operation.phase = 'requested';
  operation.account = textIn(attempt, 'account');
  operation.attempts.set(orderNumber, { at, amount: operation.amount });
  byOrderNumber.set(orderNumber, operation);
}

/** Minimum time from the first byte until absence proves something, less the maximum clock difference. @unit milliseconds */
const quietAtLeastMs = 20_000;

/**
 * An operation may be recorded as not found only after a quiet period. The period starts at the send, because an announcement can
 * be appended too late for its call to be sent.
 */
const requireQuiet = (operation: OperationOnRecord, what: string, { at, complain }: Tools): void => {
  const calls = [...operation.attempts.values(), ...Object.values(operation.calls).flat()];
  for (const call of calls) call.isGivenUp = true;
  const sentAt = Math.max(...calls.map((call) => call.sentAt ?? -Infinity));
  if (at - sentAt < quietAtLeastMs)
    complain('quiet', `${operation.token}: ${what} ${Math.round(at - sentAt)} ms after the call was sent`);
};
const afterQuiet = new Set([
  'attempt_not_found',
  'payout_not_found',
  'refund_unresolved',
  'capture_unresolved',
  'void_unresolved',
]);

/** The reason a person gives for a wrong resolution. */
export const guess = 'A guess.';
/** Resolutions that release money; operators only. */
export const freeing: ReadonlySet<string> = new Set([
  'accept_theirs',
  'payout_not_made',
  'refund_not_made',
  'dispute_won',
]);

type Step = (operation: OperationOnRecord, data: Data, tools: Tools) => void;

const to =
  (phase: string): Step =>
  (operation, _data, { complain }) => {
    if (isFinal(operation) && operation.phase !== phase)
      complain('I11', `${operation.token} went from ${operation.phase} to ${phase} without a revision`);
    operation.phase = phase;
  };

function afterRefund(operation: OperationOnRecord): void {
  if (operation.approvedAmount > 0 && operation.refundedAmount >= operation.approvedAmount)
    operation.phase = 'refunded';
}

const setRefund =
  (state: RefundOnRecord['state']): Step =>
  (operation, data) => {
    const refund = operation.refunds.get(textIn(data, 'refundToken'));
    if (refund !== undefined) refund.state = state;
  };

const setDispute =
  (state: 'opened' | 'won' | 'lost'): Step =>
  ({ disputes }, data) =>
    void disputes.set(textIn(data, 'disputeToken'), { state, amount: numberIn(data, 'amount') });

const steps: Record<string, Step> = {
  PaymentRequested: (operation, data, tools) => announce(operation, objectIn(data, 'attempt'), tools),
  PaymentAdopted: (operation, data, { byOrderNumber, complain }) => {
    const [status, held] = [textIn(data, 'status'), numberIn(data, 'authorizedAmount')];
    operation.isAdopted = true;
    operation.isPayable = data['payable'] === true;
    operation.phase = status === 'pending' && held > 0 ? 'authorized' : status;
    operation.serviceToken = textIn(data, 'serviceToken');
    operation.refundedAmount = operation.externalAmount = numberIn(data, 'refundedAmount');
    if (status === 'approved' || status === 'refunded') operation.approvedAmount = operation.amount;
    const orderNumber = textIn(data, 'providerOrderNumber');
    const other = byOrderNumber.get(orderNumber);
    if (other !== undefined)
      complain('adoption', `${operation.token} is ${orderNumber}, as ${other.token} is`);
    byOrderNumber.set(orderNumber, operation);
  },
  AdoptionDeclaredPayable: (operation) => void (operation.isPayable = true),
  PayoutApprovalRequested: (operation, data) => {
    operation.phase = 'awaiting_approval';
    operation.askedBy = textIn(data, 'askedBy');
  },
  PayoutApprovalGranted: (operation, data) => {
    operation.phase = 'approval_granted';
    operation.grantedBy = textIn(data, 'grantedBy');
  },
  PayoutApprovalRefused: (operation) => void (operation.isRefused = true),
  PayoutRequested: (operation, data, tools) => announce(operation, objectIn(data, 'call'), tools),
  AttemptStarted: (operation, data, tools) => announce(operation, objectIn(data, 'attempt'), tools),
  AttemptAccepted: (operation, data) => {
    operation.phase = 'init';
    operation.serviceToken = textIn(data, 'serviceToken');
  },
  PayoutAccepted: (operation, data) => {
    operation.phase = 'pending';
    operation.serviceToken = textIn(data, 'serviceToken');
  },
  AttemptUnresolved: to('unresolved'),
  PayoutUnresolved: to('unresolved'),
  PaymentPending: to('pending'),
  PaymentAuthorized: to('authorized'),
  PaymentApproved: (operation, data, tools) => {
    to('approved')(operation, data, tools);
    operation.approvedAmount = numberIn(data, 'amount');
    if (operation.approvedAmount > operation.amount)
      tools.complain(
        'I15',
        `${operation.token}: ${operation.approvedAmount} approved of ${operation.amount}`,
      );
  },
  PayoutApproved: to('approved'),
  PaymentDeclined: to('declined'),
  PayoutDeclined: to('declined'),
  PaymentVoided: to('voided'),
  PaymentExpired: to('expired'),
  PaymentFailed: (operation, data, tools) => {
    operation.phase = 'failed';
    // A payment page that was never shown may be replaced without a quiet period.
    if (data['reason'] === 'not-found') requireQuiet(operation, 'given up', tools);
  },
  PayoutFailed: to('failed'),
  CaptureSubmitted: (operation, _data, { at }) => {
    operation.phase = 'capturing';
    operation.calls.confirm.push({ at });
  },
  CaptureRefused: to('authorized'),
  VoidSubmitted: (operation, _data, { at }) => {
    operation.phase = 'voiding';
    operation.calls.decline.push({ at });
  },
  VoidRefused: to('authorized'),
  RefundSubmitted: (operation, data, { at, complain }) => {
    const amount = numberIn(data, 'amount');
    const left = leftOf(operation);
    if (amount > left) complain('I2', `${operation.token}: a refund of ${amount} of ${left} is submitted`);
    const refundToken = textIn(data, 'refundToken');
    if (operation.refunds.has(refundToken)) complain('I10', `${refundToken} is submitted twice`);
    operation.refunds.set(refundToken, { amount, state: 'reserved' });
    operation.calls.refunds.push({ at, amount });
  },
  DisputeOpened: setDispute('opened'),
  DisputeChanged: setDispute('opened'),
  DisputeLost: setDispute('lost'),
  DisputeWon: setDispute('won'),
  RefundAccepted: setRefund('accepted'),
  RefundApproved: (operation, data, tools) => {
    const refund = operation.refunds.get(textIn(data, 'refundToken'));
    operation.refundedAmount += refund?.amount ?? 0;
    setRefund('approved')(operation, data, tools);
    afterRefund(operation);
  },
  RefundDeclined: setRefund('declined'),
  ExternalRefundObserved: (operation, data) => {
    operation.externalAmount += numberIn(data, 'amount');
    operation.refundedAmount += numberIn(data, 'amount');
    afterRefund(operation);
  },
  FinalStatusRevised: (operation, data) => {
    operation.revisions += 1;
    operation.phase = textIn(data, 'to');
    if (typeof data['amount'] === 'number') operation.approvedAmount = data['amount'];
    if (typeof data['refundedAmount'] === 'number') {
      operation.externalAmount += data['refundedAmount'] - operation.refundedAmount;
      operation.refundedAmount = data['refundedAmount'];
    }
    if (typeof data['serviceToken'] === 'string') operation.serviceToken = data['serviceToken'];
  },
  PayoutStatusRevised: (operation, data) => void (operation.phase = textIn(data, 'to')),
  ReviewOpened: (operation, data, tools) => {
    const code = textIn(data, 'code');
    if (afterQuiet.has(code)) requireQuiet(operation, code, tools);
    operation.reviewCount += 1;
    operation.reviews.set(operation.reviewCount, { code, evidence: objectIn(data, 'evidence') });
  },
  ReviewResolved: (operation, data) => {
    const number = numberIn(data, 'number');
    const { kind, observedAmount } = operation.reviews.get(number)?.evidence ?? {};
    const isTaken = textIn(data, 'resolution') === 'accept_theirs' && typeof observedAmount === 'number';
    if (isTaken && (operation.kind === 'payout' || kind === 'terms_disagree'))
      operation.amount = observedAmount;
    operation.reviews.delete(number);
    if (textIn(data, 'reason') !== guess) return;
    operation.isMisjudged = true;
    operation.isFreed ||= data['releases'] === true || freeing.has(textIn(data, 'resolution'));
  },
};
