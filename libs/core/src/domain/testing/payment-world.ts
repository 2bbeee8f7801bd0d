/**
 * A small world around one payment for property tests: the Payment Service with its ledger, calls whose answers are
 * lost, late or repeated, concurrent inquiries, people who answer truthfully, and a gateway that keeps the rule: an
 * announced call is sent once, before `sendBy`, by the process whose append won.
 */
import { callRules } from '../outbound-call/outbound-call.ts';
import { resolutions, type Resolution } from '../review.ts';
import type { PaymentInput, RecordDispute, RecordObservation } from '../payment/payment-commands.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import { reviewCodes, type ReviewCode } from '../payment/payment-events.ts';
import { undecidedRefund, type Payment } from '../payment/payment-state.ts';
import { requestPayment, terms } from './samples.ts';
import * as atService from './service-model.ts';
import type { ServicePayment } from './service-model.ts';
import { carryOutLate, send } from './world-calls.ts';
import {
  callbackInquiry,
  deferral,
  execute,
  failedInquiry,
  nextAttempt,
  passTime,
  picked,
  planAttempt,
  planWindow,
  timing,
  type World,
} from './world.ts';

/** One action in the world. `pick` chooses among the candidates; `size` is an amount, a time or a second choice. */
export interface Happening {
  kind: HappeningKind;
  pick: number;
  size: number;
}

function recordIfAny(world: World, command: PaymentInput | undefined): void {
  if (command !== undefined) execute(world, command);
}

function beginInquiry(world: World): PaymentInput | undefined {
  if (world.state === undefined) return undefined;
  const { number, providerOrderNumber } = world.state.attempt;
  const own = world.ledger.payments.filter(({ orderNumber }) => orderNumber === providerOrderNumber);
  const found = own.map(atService.snapshotOf);
  return { type: 'RecordSearch', attemptNumber: number, found, inquiredAt: world.now, ...nextAttempt(world) };
}

/** A retrieval; `mayCall` if it may submit a capture or void again. */
function retrieve(world: World, payment: ServicePayment, mayCall: boolean): RecordObservation {
  const snapshot = atService.snapshotOf(payment);
  const observed = world.mistells ? { ...snapshot, status: 'odd' } : snapshot;
  world.mistells = false;
  const call = mayCall ? { nextWindow: planWindow(world.now) } : {};
  return { type: 'RecordObservation', observed, inquiredAt: world.now, changedAt: world.changedAt, ...call };
}

// The service layer appends the result of a retrieval at the revision at which the retrieval began.
function recordSnapshot(world: World, pick: number): void {
  const inTime = world.snapshots.filter(({ revision }) => revision === world.history.length);
  const [snapshot] = inTime.splice(pick % (inTime.length || 1), 1);
  world.snapshots = inTime;
  recordIfAny(world, snapshot?.observation);
}

/** Few keys and few amounts, so that keys are reused, for the same and for another refund. */
function askForRefund(world: World, pick: number, size: number): void {
  const amount = size % 6 === 5 ? {} : { amount: 1 + (size % 1_000) };
  const refundToken = `refund-${1 + (pick % 6)}`;
  const fingerprint = JSON.stringify(amount);
  execute(world, {
    type: 'SubmitRefund',
    refundToken,
    askedBy: 'key-1',
    askedAt: world.now,
    ...amount,
    // Sometimes the inquiry before it failed.
    ...(pick % 8 > 5 ? { sumUnknown: true } : {}),
    fingerprint,
    window: planWindow(world.now),
  });
}

function decideRefund(world: World, pick: number, size: number): void {
  const waiting = world.ledger.refunds.filter(({ status }) => status === 'pending');
  const refund = picked(waiting, pick);
  if (refund === undefined) return;
  atService.decideAtService(world.ledger, refund, size % 2 === 0 ? 'approved' : 'declined');
}

function personResolves(world: World, pick: number, size: number): void {
  const { state } = world;
  if (state === undefined) return;
  const nothing: { code: ReviewCode; number: number } = {
    code: picked(reviewCodes, pick) ?? 'discrepancy',
    number: 1,
  };
  const { code, number } = picked(state.reviews, pick) ?? nothing;
  const resolution = picked(resolutions, size) ?? 'check_again';
  const command: ResolveReview<ReviewCode> = {
    type: 'ResolveReview',
    code,
    number,
    resolution,
    reason: 'seen',
    // Sometimes two people are required.
    ...(pick % 4 < 3 ? {} : { proposer: { name: `person-${(pick >> 2) & 1}`, at: world.now } }),
  };
  const isGone = state.discrepancies.some((each) => each.number === number && each.theirs === null);
  const isFalse = isGone && resolution === 'accept_theirs';
  if (!isFalse && isTrue(world, state, resolution)) execute(world, command);
}

/** True if the provider's ledger confirms this resolution. */
function isTrue({ ledger, unsent, slow }: World, state: Payment, resolution: Resolution): boolean {
  const isOnItsWay = (operation: string) => [...unsent, ...slow].some((call) => call.operation === operation);
  const refund = undecidedRefund(state);
  const made = ledger.refunds.find(({ refundToken }) => refundToken === refund?.refundToken);
  switch (resolution) {
    case 'payment_not_made':
      return !isOnItsWay('authorize') && ledger.payments.every(({ status }) => status === 'declined');
    case 'dispute_won':
    case 'dispute_lost':
      return ledger.disputes.every(({ state: decided }) => `dispute_${decided}` === resolution);
    case 'refund_made':
      return made?.status === 'approved';
    case 'refund_not_made':
      return !isOnItsWay('refund') && (made === undefined || made.status === 'declined');
    default:
      return true;
  }
}

// A resolution is true only at its time, and an inquiry is recorded only by the process that made it.
function repeatCommand(world: World, pick: number): void {
  const command = picked(world.commands, pick);
  if (command?.type !== 'RecordObservation' && command?.type !== 'ResolveReview') recordIfAny(world, command);
}

/** The list may arrive late, and more than once. */
const readDisputes = ({ state, ledger }: World): RecordDispute[] =>
  ledger.disputes
    .filter(({ serviceToken }) => serviceToken === state?.serviceToken)
    .map(({ serviceToken: _, state: status, ...dispute }) => ({
      type: 'RecordDispute',
      ...dispute,
      state: status,
      status,
      currency: terms.currency,
    }));

type Way = (world: World, pick: number, size: number) => unknown;
const atPayment =
  (act: (world: World, payment: ServicePayment, size: number) => unknown): Way =>
  (world, pick, size) => {
    const payment = picked(world.ledger.payments, pick);
    if (payment !== undefined) act(world, payment, size);
  };

const ways = {
  request: (world) => {
    const wanted = { ...terms, kind: world.kind, recurring: true };
    execute(world, requestPayment({ terms: wanted, attempt: planAttempt(1, world.now) }));
  },
  send,
  'effect of a slow call': carryOutLate,
  'answer arrives': (world, pick) => recordIfAny(world, picked(world.answers, pick)),
  crash: (world) => (world.unsent = []),
  'inquiry begins': (world) => {
    const inquire = beginInquiry(world);
    if (inquire !== undefined) world.inquiries.push(inquire);
  },
  'inquiry is recorded': (world, pick) => recordIfAny(world, picked(world.inquiries, pick)),
  'snapshot is taken': atPayment((world, payment, size) =>
    world.snapshots.push({
      observation: retrieve(world, payment, size % 8 !== 7),
      revision: world.history.length,
    }),
  ),
  'snapshot is recorded': recordSnapshot,
  'command is repeated': repeatCommand,
  'time passes': passTime,
  'days pass': (world) => (world.now += callRules.refund.decisionMs),
  'customer acts': atPayment((_, payment, size) => atService.customerActs(payment, size)),
  'payment expires': atPayment((_, payment) => atService.expireAtService(payment)),
  'operator revises': atPayment((_, payment, size) => atService.reviseAtService(payment, size)),
  'operator refunds': atPayment(({ ledger }, payment, size) =>
    atService.refundInConsole(ledger, payment, 1 + (size % payment.amount)),
  ),
  'service mistells': (world) => (world.mistells = true),
  'capture is asked for': (world) =>
    execute(world, { type: 'SubmitCaptureOrVoid', operation: 'capture', window: planWindow(world.now) }),
  'void is asked for': (world) =>
    execute(world, { type: 'SubmitCaptureOrVoid', operation: 'void', window: planWindow(world.now) }),
  'refund is asked for': askForRefund,
  'refund is decided': decideRefund,
  'callback arrives': (world, pick) => recordIfAny(world, picked(world.callbacks, pick)),
  'callback is deferred': (world, pick) => execute(world, deferral(world, pick)),
  'callback is inquired': (world, pick) => recordIfAny(world, callbackInquiry(pick)),
  'inquiry fails': (world, pick) => execute(world, failedInquiry(world, pick)),
  'bank opens a dispute': atPayment(({ ledger }, payment, size) =>
    atService.openDispute(ledger, payment, 1 + (size % terms.amount)),
  ),
  'bank decides': ({ ledger }, pick, size) => {
    const dispute = picked(ledger.disputes, pick);
    if (dispute !== undefined) atService.changeDispute(dispute, size);
  },
  'disputes are read': (world) => world.answers.push(...readDisputes(world)),
  'person resolves': personResolves,
  'payment goes missing': atPayment((world, { serviceToken }) =>
    execute(world, { type: 'RecordMissing', serviceToken, inquiredAt: world.now }),
  ),
} satisfies Record<string, Way>;

export type HappeningKind = keyof typeof ways;
export const happeningKinds = Object.keys(ways) as HappeningKind[];

/** Performs one action; none if there is no candidate. */
export function happen(world: World, { kind, pick, size }: Happening): void {
  ways[kind](world, pick, size);
}

/**
 * The faults end: no caller waits, the provider decides everything, and everything is inquired as time passes. Each attempt
 * may be searched for, abandoned and followed by another, which bounds the number of rounds.
 */
export function settle(world: World): void {
  Object.assign(world, { unsent: [], slow: [], mistells: false });
  for (let round = 0; round <= callRules.authorize.attemptsMax + 1; round += 1) {
    world.now += timing.quietAfter;
    recordIfAny(world, beginInquiry(world));
    for (const payment of world.ledger.payments) execute(world, retrieve(world, payment, true));
    while (world.unsent.length > 0) send(world, 0);
    for (const answer of [...world.answers, ...world.callbacks]) execute(world, answer);
    while (world.ledger.refunds.some(({ status }) => status === 'pending')) decideRefund(world, 0, round);
  }
  for (const [place, dispute] of world.ledger.disputes.entries())
    if (dispute.state !== 'won') atService.changeDispute(dispute, 1 + (place % 2));
  for (const dispute of readDisputes(world)) execute(world, dispute);
  // Decisions that may take days are over.
  world.now += callRules.refund.decisionMs;
  for (const payment of world.ledger.payments) atService.expireAtService(payment);
  for (const payment of world.ledger.payments) execute(world, retrieve(world, payment, true));
  for (const { serviceToken } of world.state?.deferredCallbacks ?? [])
    if (serviceToken !== null) execute(world, { type: 'RecordCallbackInquired', serviceToken });
}
