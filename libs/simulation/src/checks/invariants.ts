/** What must hold at every instant, and what must hold once everything has settled: I1 to I17 of the design, and that a closed account is not called. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { BusRecord } from '@tollgate/message-bus';
import type { Life } from '../world/machine.ts';
import { type Announced, type Books, type OperationOnRecord, isAwaited, isFinal } from './books.ts';
import { type ServiceRequest, movesMoney } from '../payment-service/api.ts';
import { type DisputeChecks, createDisputeChecks } from './disputes.ts';
import { createRecurringChecks } from './recurring.ts';
import { createUnmatchedChecks } from './unmatched.ts';
import { liesOf } from './honesty.ts';
import { type IndexChecks, createIndexChecks } from './index-progress.ts';
import { type PausedAccounts, type Sender, createPausedAccounts } from './paused.ts';
import { type RulesOfTeams, createMoneyChecks } from './money-rules.ts';
import { createReviewsByTwo } from './review-by-two.ts';
import type { Ledger, LedgerPayment, LedgerPayout } from '../payment-service/ledger.ts';

export interface Violation {
  invariant: string;
  text: string;
  atMs: number;
}

export interface Checks {
  /** The first byte of a request leaves for the service. */
  onSent(request: ServiceRequest, life: Life): void;
  paused: PausedAccounts;
  disputes: DisputeChecks;
  indexes: IndexChecks;
  /** After the books have it. */
  onRecorded(event: RecordedEvent): void;
  /** Whenever the ledger has changed. */
  onLedgerChanged(): void;
  /** What is not settled yet: where the gateway does not agree with the service. */
  differences(): string[];
  /** When everything has settled. */
  atEnd(): void;
}

export interface CheckParts {
  now: () => number;
  ledger: Ledger;
  books: Books;
  /** From the announcement to the first byte at most, milliseconds. */
  sendWithinMs: number;
  /** The store's clock was hours ahead under this seed. */
  wasClockWrong: () => boolean;
  isReviewByTwo: boolean;
  showsDisputedPayments: boolean;
  /** The service shows neither disputes nor recurring tokens. */
  isBare: boolean;
  /** What is on record is of an earlier time: the service may have more, and somebody is told of it. */
  isRestored: boolean;
  rulesOf: RulesOfTeams;
  complain: (invariant: string, text: string) => void;
}

export function createChecks(parts: CheckParts): Checks {
  const { ledger, books, complain, isRestored } = parts;
  const sent = new Map<string, number>();
  const paused = createPausedAccounts(parts);
  const money = createMoneyChecks(parts);
  const disputes = createDisputeChecks(parts);
  const recurring = createRecurringChecks(parts);
  const indexes = createIndexChecks(parts);
  const unmatched = createUnmatchedChecks(parts);
  const byTwo = createReviewsByTwo({ isOn: parts.isReviewByTwo, complain });

  /** I3, I4: each call has an announcement of its own, durable before and not too old. */
  function requireAnnounced(key: string, announced: readonly Announced[], what: string, by: Sender): void {
    const count = (sent.get(key) ?? 0) + 1;
    sent.set(key, count);
    const own = announced[count - 1];
    if (announced.length === 0) return complain('I3', `${what} is sent, and nothing announces it`);
    if (own === undefined)
      return complain('I4', `${what} is sent ${count} times, and announced ${announced.length} times`);
    const call = announced.at(-1) ?? own;
    noteSent(call, { what, ...parts });
    paused.requireCalled(by, call.at, what);
    requireInTime(call, { what, ...parts });
  }

  function onCreationSent(request: ServiceRequest, by: Sender): void {
    const { orderNumber: number, amount } = request.body ?? {};
    const orderNumber = String(number);
    const operation = books.byOrderNumber(orderNumber);
    const attempt = operation?.attempts.get(orderNumber);
    if (operation?.kind === 'payout') money.onPayoutSent(operation);
    if (operation !== undefined) recurring.onCreationSent(request, operation);
    const what = `the creation of ${orderNumber}`;
    requireAnnounced(orderNumber, attempt === undefined ? [] : [attempt], what, by);
    if (attempt !== undefined && attempt.amount !== amount)
      complain('I15', `${what} is sent over ${String(amount)}, and announced over ${attempt.amount}`);
  }

  return {
    paused,
    disputes,
    indexes,
    onSent: (request, life) => {
      if (!movesMoney(request)) return;
      const by = { account: request.account, life: life.name };
      const { path, body = {} } = request;
      const token = typeof body['token'] === 'string' ? body['token'] : '';
      if (path.endsWith('/payments') || path.endsWith('/payouts')) return onCreationSent(request, by);
      const payment = ledger.findPayment(token);
      const operation = payment === undefined ? undefined : books.byOrderNumber(payment.orderNumber);
      const kind = path.slice(path.lastIndexOf('/') + 1);
      const announced = operation === undefined ? [] : callsOf(operation, kind);
      requireAnnounced(`${kind} ${token}`, announced, `a ${kind} of ${payment?.orderNumber ?? token}`, by);
      if (kind === 'refunds')
        requireAmount(announced, body['amount'], payment?.orderNumber ?? token, complain);
    },
    onRecorded: (event) => {
      for (const each of [byTwo, disputes, indexes, money, recurring, unmatched]) each.onRecorded(event);
      requireHonest(parts, event);
    },
    onLedgerChanged: () => {
      for (const payment of ledger.payments) requireRefundedWithin(payment, complain);
      requireOneEach(parts);
    },
    differences: () => [
      ...books.all().flatMap((each) => differencesOf(parts, each)),
      ...[disputes, recurring, unmatched].flatMap((each) => each.differences()),
    ],
    atEnd: () => {
      requireOneEach(parts);
      if (!isRestored) requireOnRecord(parts);
    },
  };
}

function requireHonest({ ledger, books, complain, wasClockWrong }: CheckParts, event: RecordedEvent): void {
  const operation = books.find(event.stream.replace(/^(payment|payout)-/, ''));
  if (operation === undefined) return;
  for (const lie of liesOf(ledger, operation, event, wasClockWrong())) complain('honesty', lie);
}

function requireInTime(
  { at }: Announced,
  { what, now, sendWithinMs, complain }: { what: string } & CheckParts,
): void {
  const age = now() - at;
  if (age > sendWithinMs) complain('I4', `${what} is sent ${Math.round(age)} ms after its announcement`);
}

function requireAmount(
  announced: readonly Announced[],
  amount: unknown,
  of: string,
  complain: CheckParts['complain'],
): void {
  if (announced.at(-1)?.amount !== amount)
    complain('I3', `a refund of ${String(amount)} of ${of} is sent, and nothing announces it`);
}

/** Absence is no proof from here on for a while, and was none if somebody has believed it. */
function noteSent(call: Announced, { what, now, complain }: { what: string } & CheckParts): void {
  call.sentAt = now();
  if (call.isGivenUp === true) complain('quiet', `${what} is sent, and was given up before`);
}

function requireOnRecord({ ledger, books, complain }: CheckParts): void {
  for (const payment of ledger.payments)
    if (payment.hasTakenMoney && books.byOrderNumber(payment.orderNumber) === undefined)
      complain('I3', `the service has ${payment.orderNumber}, of which the gateway knows nothing`);
}

function callsOf({ captures, voids, refundCalls }: OperationOnRecord, kind: string): readonly Announced[] {
  if (kind === 'confirm') return captures;
  return kind === 'decline' ? voids : refundCalls;
}

function requireRefundedWithin(
  { refundedAmount, amount, orderNumber }: LedgerPayment,
  complain: CheckParts['complain'],
): void {
  if (refundedAmount > amount)
    complain('I2', `${refundedAmount} of ${amount} are refunded of ${orderNumber}`);
}

/** I1: one approved payment, and one payout, for each of the gateway's. */
function requireOneEach({ ledger, complain }: CheckParts): void {
  const owners = new Map<string, string>();
  const charged = ledger.payments.filter(({ hasTakenMoney }) => hasTakenMoney);
  for (const { orderNumber } of [...charged, ...ledger.payouts]) {
    const owner = orderNumber.replace(/\.\d+$/, '');
    const other = owners.get(owner);
    if (other !== undefined) complain('I1', `${owner} moved money twice: ${other} and ${orderNumber}`);
    owners.set(owner, orderNumber);
  }
}

/**
 * The lists of a bare service prove no absence, so an inquiry about a lost creation stays without an answer. After `check_again` its review
 * opens anew an hour later.
 */
const reopenedWithinMs = 75 * 60_000;

/** I9: each is final or in review, and the gateway agrees with the service about all that are not in review. */
function differencesOf(
  { ledger, isRestored, isBare, now }: Pick<CheckParts, 'ledger' | 'isRestored' | 'isBare' | 'now'>,
  operation: OperationOnRecord,
): string[] {
  const { token, phase, reviews } = operation;
  if (reviews.size > 0) return [];
  const say = (text: string) => [`${token} (${phase}): ${text}; ${operation.events.join(' ')}`];
  // Its team is asked, and it lapses after a day.
  if (phase === 'awaiting_approval' || phase === 'approval_granted') return [];
  const isReopening = isBare && isAwaited(operation) && operation.events.at(-1) === 'ReviewResolved';
  if (isReopening && now() - operation.changedAt < reopenedWithinMs) return [];
  if (!isFinal(operation)) return say('it is not final, and in no review');
  const own = [...operation.attempts.keys()];
  const ofService: readonly (LedgerPayment | LedgerPayout)[] =
    operation.kind === 'payment' ? ledger.payments : ledger.payouts;
  if (phase === 'failed') {
    const moved = ofService.find((each) => own.includes(each.orderNumber) && hasMoved(each));
    return moved === undefined
      ? []
      : say(`the service has moved money for it: ${moved.orderNumber} is ${moved.status}`);
  }
  const known = ofService.find((each) => each.token === operation.serviceToken);
  if (known === undefined) return say('the service does not know it');
  if ('isStranger' in known && known.isStranger) return say('it is taken for what another installation made');
  // The service has three days to decide what it has accepted; what is refunded meanwhile may be ours or not.
  if ([...operation.refunds.values()].some(({ state }) => state === 'accepted')) return [];
  if (known.status !== statusOf(phase)) return say(`it is ${known.status} at the service`);
  const amount = operation.approvedAmount > 0 ? operation.approvedAmount : operation.amount;
  if (known.status !== 'declined' && known.amount !== amount)
    return say(`it is of ${amount} here, and of ${known.amount} at the service`);
  if ('refundedAmount' in known && known.refundedAmount !== operation.refundedAmount)
    return say(`${operation.refundedAmount} are refunded here, ${known.refundedAmount} at the service`);
  // Of refunds that were forgotten only the sum is learnt.
  if (
    !isRestored &&
    'refundedInConsole' in known &&
    operation.externalAmount !== known.refundedInConsole &&
    !isTakenForOurs(ledger, operation, known)
  )
    return say(
      `${operation.externalAmount} were refunded elsewhere, they say: ${known.refundedInConsole} were`,
    );
  const open = [...operation.refunds].find(([, { state }]) => state === 'reserved');
  return open === undefined ? [] : say(`the refund ${open[0]} has no outcome`);
}

/**
 * A refund of ours was lost, and one of just its amount was made in the console: the service shows sums only, so nobody can tell them
 * apart (docs/adr/0007-one-refund-at-a-time.md). The sum is right.
 */
function isTakenForOurs(
  { refunds: made }: Ledger,
  { refunds, externalAmount, serviceToken }: OperationOnRecord,
  { refundedInConsole }: LedgerPayment,
): boolean {
  const missing = refundedInConsole - externalAmount;
  const believed = [...refunds.values()].filter(({ state }) => state === 'approved');
  const approved = made.filter(({ payment, status }) => payment === serviceToken && status === 'approved');
  const sumOf = (all: readonly { amount: number }[]) => all.reduce((sum, { amount }) => sum + amount, 0);
  return believed.some(({ amount }) => amount === missing) && sumOf(believed) - sumOf(approved) === missing;
}

const hasMoved = (each: LedgerPayment | LedgerPayout): boolean =>
  'hasTakenMoney' in each ? each.hasTakenMoney : each.status !== 'declined';
const statusOf = (phase: string): string => (phase === 'voided' ? 'declined' : phase);

/** I7: each event is on its topic once, in the order of its stream, and nothing else is. */
export function requireTopics(
  records: readonly BusRecord[],
  events: readonly RecordedEvent[],
  complain: CheckParts['complain'],
): void {
  const counts = new Map<string, number>();
  const lastOf = new Map<string, number>();
  for (const { topic, key, headers } of records) {
    const id = headers['ce_id'] ?? '';
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const sequence = Number(headers['ce_sequence']);
    const subject = `${topic} ${key}`;
    if (sequence !== (lastOf.get(subject) ?? -1) + 1)
      complain('I7', `${subject}: event ${sequence} comes after event ${lastOf.get(subject) ?? 'nothing'}`);
    lastOf.set(subject, sequence);
  }
  for (const { id, stream, revision, type } of events) {
    if (!/^(payment|payout|dispute)-/.test(stream)) continue;
    const count = counts.get(id) ?? 0;
    if (count !== 1)
      complain('I7', `event ${revision} of ${stream} (${type}) is on its topic ${count} times`);
    counts.delete(id);
  }
  for (const id of counts.keys()) complain('I7', `a topic has a record of ${id}, which is no event`);
}
