/**
 * Safety at every instant, and agreement once everything has settled: I1 to I17 of the design, and that a paused account is not
 * called.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import { gatewayJournalTopic } from '@tollgate/gateway-api';
import type { BusRecord } from '@tollgate/message-bus';
import { type ServiceRequest, movesMoney } from '../payment-service/api.ts';
import type { LedgerPayment, LedgerPayout } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';
import type { Life } from '../world/machine.ts';
import {
  type Announced,
  type Complain,
  type OperationOnRecord,
  isAwaited,
  isFinal,
  isInReview,
  sumOf,
} from './books.ts';
import { requireHonest } from './honesty.ts';
import { createLedgerChecks, isLeftToReconciliation } from './ledger.ts';
import { createDisputeChecks, createRecurringChecks, createUnmatchedChecks } from './other-records.ts';
import { type Sender, createMoneyChecks, createPausedAccounts, createReviewChecks } from './permissions.ts';
import { createIndexChecks } from './read-models.ts';
import { createWebhookChecks } from './webhooks.ts';

export interface Violation {
  invariant: string;
  text: string;
  atMs: number;
}

export type Checks = ReturnType<typeof createChecks>;

/** Maximum time from the announcement to the first byte. @unit milliseconds */
const sendWithinMs = 5_000;

export function createChecks(world: World) {
  const { ledger, books, complain, scheduler } = world;
  const sent = new Map<string, number>();
  const paused = createPausedAccounts(world);
  const money = createMoneyChecks(world);
  const wallets = createLedgerChecks(world);
  const disputes = createDisputeChecks(world);
  const recurring = createRecurringChecks(world);
  const indexes = createIndexChecks(world);
  const unmatched = createUnmatchedChecks(world);
  const requireAnswer = createReviewChecks(world);
  const webhooks = createWebhookChecks(world);

  /** I3, I4: each call has its own announcement, durable before it and not too old. */
  function requireAnnounced(key: string, announced: readonly Announced[], what: string, by: Sender): void {
    const count = (sent.get(key) ?? 0) + 1;
    sent.set(key, count);
    const call = announced.at(-1);
    if (call === undefined) return complain('I3', `${what} is sent, and nothing announces it`);
    if (announced.length < count)
      return complain('I4', `${what} is sent ${count} times, and announced ${announced.length} times`);
    // Absence proves nothing for a while after the send, so a call already recorded as not found was sent too late.
    call.sentAt = scheduler.now();
    if (call.isGivenUp === true) complain('quiet', `${what} is sent, although it was given up before`);
    paused.requireCalled(by, call.at, what);
    const ageMs = Math.round(call.sentAt - call.at);
    if (ageMs > sendWithinMs) complain('I4', `${what} is sent ${ageMs} ms after its announcement`);
  }

  function onCreationSent(request: ServiceRequest, by: Sender): void {
    const { orderNumber: number, amount } = request.body;
    const orderNumber = String(number);
    const operation = books.byOrderNumber(orderNumber);
    const attempt = operation?.attempts.get(orderNumber);
    if (operation?.kind === 'payout') for (const each of [money, wallets]) each.onPayoutSent(operation);
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
    wallets,
    webhooks,
    /** The first byte of a request leaves for the service. */
    onSent: (request: ServiceRequest, life: Life): void => {
      if (!movesMoney(request)) return;
      const by = { account: request.account, life: life.name };
      const { path, body } = request;
      const token = typeof body['token'] === 'string' ? body['token'] : '';
      if (path.endsWith('/payments') || path.endsWith('/payouts')) return onCreationSent(request, by);
      const orderNumber = ledger.findPayment(token)?.orderNumber ?? token;
      const operation = books.byOrderNumber(orderNumber);
      const kind = path.slice(path.lastIndexOf('/') + 1) as keyof OperationOnRecord['calls'];
      const announced = operation?.calls[kind] ?? [];
      requireAnnounced(`${kind} ${token}`, announced, `a ${kind} of ${orderNumber}`, by);
      if (kind === 'refunds' && announced.at(-1)?.amount !== body['amount'])
        complain('I3', `a refund of ${String(body['amount'])} of ${orderNumber} is sent, and not announced`);
    },
    /** @param operation after the event, if it belongs to one */
    onRecorded: (event: RecordedEvent, operation: OperationOnRecord | undefined): void => {
      for (const each of [webhooks, disputes, indexes, money, wallets, recurring, unmatched])
        each.onRecorded(event, operation);
      requireAnswer(event);
      requireHonest(world, event, operation);
    },
    /** Runs after every change of the ledger. */
    onLedgerChanged: (): void => {
      requireRefundsWithin(world);
      requireOneEach(world);
    },
    /** Differences between the gateway and the service that are not settled yet. */
    differences: (): string[] => [
      ...books.all().flatMap((each) => differenceOf(world, each) ?? []),
      ...[disputes, recurring, unmatched, webhooks].flatMap((each) => each.differences()),
    ],
    /** Runs when everything has settled. */
    atEnd: (): void => {
      requireOneEach(world);
      if (world.isRestored()) return;
      for (const { hasTakenMoney, orderNumber } of ledger.payments)
        if (hasTakenMoney && books.byOrderNumber(orderNumber) === undefined)
          complain('I3', `the service has ${orderNumber}, which the gateway has not announced`);
    },
  };
}

function requireRefundsWithin({ ledger, complain }: World): void {
  for (const { refundedAmount, amount, orderNumber } of ledger.payments)
    if (refundedAmount > amount)
      complain('I2', `${refundedAmount} of ${amount} are refunded of ${orderNumber}`);
}

/** I1: at most one approved payment or payout at the service for each of the gateway's. */
function requireOneEach({ ledger, complain }: World): void {
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
 * The lists of a bare service prove no absence, so an inquiry about a lost creation stays unanswered. After `check_again` its
 * review reopens an hour later.
 */
const reopenedWithinMs = 75 * 60_000;

/** I9: each operation is final or in review, and the gateway agrees with the service about all that are not in review. */
function differenceOf(world: World, operation: OperationOnRecord): string | undefined {
  const { ledger, faults, scheduler } = world;
  const { token, kind, phase, isMisjudged, events, attempts } = operation;
  if (isInReview(operation) || isMisjudged) return undefined;
  const say = (text: string) => `${token} (${phase}): ${text}; ${events.join(' ')}`;
  // It awaits the team's decision and expires after a day.
  if (phase === 'awaiting_approval' || phase === 'approval_granted') return undefined;
  const isReopening = faults.isBare && isAwaited(operation) && events.at(-1) === 'ReviewResolved';
  if (isReopening && scheduler.now() - operation.changedAt < reopenedWithinMs) return undefined;
  if (!isFinal(operation)) return say('it is not final, and in no review');
  const ofService: readonly (LedgerPayment | LedgerPayout)[] =
    kind === 'payment' ? ledger.payments : ledger.payouts;
  if (phase === 'failed') {
    const moved = ofService.find((each) => attempts.has(each.orderNumber) && hasMoved(each));
    return moved && say(`the service has moved money: ${moved.orderNumber}`);
  }
  const known = ofService.find((each) => each.token === operation.serviceToken);
  if (known === undefined) return say('the service does not know it');
  const difference =
    'heldAmount' in known ? paymentDiffers(world, operation, known) : termsDiffer(operation, known);
  return difference && say(difference);
}

function termsDiffer(
  { phase, approvedAmount, amount }: OperationOnRecord,
  known: LedgerPayment | LedgerPayout,
): string | undefined {
  if (known.status !== (phase === 'voided' ? 'declined' : phase))
    return `it is ${known.status} at the service`;
  const ours = approvedAmount > 0 ? approvedAmount : amount;
  return known.status !== 'declined' && known.amount !== ours
    ? `it is of ${ours} here, and of ${known.amount} at the service`
    : undefined;
}

function paymentDiffers(
  world: World,
  operation: OperationOnRecord,
  known: LedgerPayment,
): string | undefined {
  const { refunds, refundedAmount, externalAmount } = operation;
  if (known.isStranger) return 'it is taken for what another installation made';
  // The service has three days to decide an accepted refund; refunds in the meantime may or may not be ours.
  if ([...refunds.values()].some(({ state }) => state === 'accepted')) return undefined;
  const terms = termsDiffer(operation, known);
  if (terms !== undefined) return terms;
  if (isLeftToReconciliation(world, operation)) return undefined;
  if (known.refundedAmount !== refundedAmount)
    return `${refundedAmount} are refunded here, ${known.refundedAmount} at the service`;
  const isForeign = externalAmount !== known.refundedInConsole && !isTakenForOurs(world, operation, known);
  // Only the total of forgotten refunds can be recovered.
  if (isForeign && !world.isRestored())
    return `${externalAmount} were refunded elsewhere, they say: ${known.refundedInConsole} were`;
  const open = [...refunds].find(([, { state }]) => state === 'reserved');
  return open && `the refund ${open[0]} has no outcome`;
}

/**
 * One of our refunds was lost, and a refund of the same amount was made in the provider's console. The service shows only totals,
 * so the two cannot be distinguished (docs/adr/0007-one-refund-at-a-time.md). The total is correct.
 */
function isTakenForOurs(
  { ledger }: World,
  { refunds, externalAmount, serviceToken }: OperationOnRecord,
  { refundedInConsole }: LedgerPayment,
): boolean {
  const missing = refundedInConsole - externalAmount;
  const believed = [...refunds.values()].filter(({ state }) => state === 'approved');
  const approved = ledger.refunds.filter(
    ({ payment, status }) => payment === serviceToken && status === 'approved',
  );
  return believed.some(({ amount }) => amount === missing) && sumOf(believed) - sumOf(approved) === missing;
}

const hasMoved = (each: LedgerPayment | LedgerPayout): boolean =>
  'hasTakenMoney' in each ? each.hasTakenMoney : each.status !== 'declined';

/**
 * I7: each event is on its topic once, in the order of its stream, and the topic contains nothing else. The journal has its own
 * check.
 */
export function requireTopics(
  records: readonly BusRecord[],
  events: readonly RecordedEvent[],
  complain: Complain,
): void {
  const published = Map.groupBy(
    records.filter(({ topic }) => topic !== gatewayJournalTopic),
    ({ topic, key }) => `${topic} ${key}`,
  );
  const recorded = Map.groupBy(
    events.filter(({ stream }) => /^(payment|payout|dispute)-/.test(stream)),
    ({ stream }) => stream.replace(/^(\w+)-/, 'gateway.$1s.v1 '),
  );
  for (const subject of new Set([...published.keys(), ...recorded.keys()])) {
    const onTopic = published.get(subject) ?? [];
    const there = onTopic
      .map(({ headers }) => `${Number(headers['ce_sequence'])} ${headers['ce_id']}`)
      .join();
    const here = (recorded.get(subject) ?? []).map(({ revision, id }) => `${revision} ${id}`).join();
    if (there !== here) complain('I7', `${subject} has the records ${there}, and the events ${here}`);
  }
}
