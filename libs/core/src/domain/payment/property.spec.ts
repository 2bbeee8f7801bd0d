import { isWholeRun, propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { happen, happeningKinds, settle, type Happening } from '../testing/payment-world.ts';
import { createWorld, ownPayment, type World } from '../testing/world.ts';
import type { ObservedPayment, PaymentInput } from './payment-commands.ts';
import { disputedAmount, lostAmount } from './payment-state.ts';
import { decide } from './payment-decide.ts';
import { isPaid, type DiscrepancyKind } from '../discrepancy.ts';
import { reservedByDiscrepancies } from './observation.ts';
import { decodePaymentEvent, type PaymentEvent } from './payment-events.ts';
import { isFinalPhase, paymentWalk, statusOfPhase } from './payment-machine.ts';
import { evolve, toMachineEvent } from './payment-evolve.ts';
import {
  isDecided,
  isPaidPhase,
  machineStateOf,
  reservedAmount,
  type Payment,
  type PaymentState,
} from './payment-state.ts';

const kinds = ['hosted', 'card', 'recurring'] as const;

// Actions that make progress are drawn more often, so that runs get far; the first is always the request.
const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.oneof(
    fc.constantFrom(...happeningKinds),
    fc.constantFrom(
      ...(['send', 'answer arrives', 'inquiry begins', 'inquiry is recorded', 'time passes'] as const),
      ...(['snapshot is taken', 'snapshot is recorded', 'customer acts', 'refund is asked for'] as const),
    ),
  ),
  pick: fc.nat(1_000),
  size: fc.nat(10_000),
});
const one = (kind: Happening['kind'], pick = 0, size = 0): Happening => ({ kind, pick, size });
const quiet = one('time passes', 4);
const inquired = [one('snapshot is taken'), one('snapshot is recorded')];
const accepted = [one('send', 2), one('answer arrives'), ...inquired];
const lost = [one('send', 7), one('answer arrives')];
const slow = [one('send', 8), one('answer arrives'), quiet];
const notFound = [...slow, one('inquiry begins'), one('inquiry is recorded')];
/** Made too late to be found, and revoked before any inquiry. */
const undone = [one('effect of a slow call'), one('operator revises')];
const pending = [...accepted, one('customer acts', 0, 0), ...inquired];
const authorized = [...accepted, one('customer acts', 0, 1), ...inquired];
const approved = [...accepted, one('customer acts', 0, 2), ...inquired];
const disputeRead = (answer: number): Happening[] => [
  one('disputes are read'),
  one('answer arrives', answer),
];
const disputed = [...approved, one('bank opens a dispute', 0, 399), ...disputeRead(1)];
/** Another amount, won, lost. */
const decidedAs = (size: number): Happening[] => [
  ...disputed,
  one('bank decides', 0, size),
  ...disputeRead(2),
];
/** Lost before the effect, and submitted again after an inquiry, n times. */
const lostAgain = (times: number): Happening[] =>
  Array.from({ length: times }, () => [one('send', 4), quiet, ...inquired]).flat();
/** Revised back and forth, with the requested amount, and acknowledged. */
const revised = [one('operator revises', 0, 1_000), ...inquired, one('person resolves')];
/** Approved, and undecided for days. */
const openAgain = [...approved, one('operator revises', 0, 2), one('days pass'), ...inquired];
/** The progress of a payment before the random actions, which alone seldom lead to a refund. */
const beginnings: Happening[][] = [
  [],
  accepted,
  pending,
  authorized,
  [...pending, one('payment expires')],
  [...authorized, one('capture is asked for'), one('send', 3), one('answer arrives', 1)],
  [...authorized, one('capture is asked for'), one('send', 5), one('answer arrives', 1)],
  [...authorized, one('void is asked for'), one('send', 5), one('answer arrives', 1)],
  [...authorized, one('capture is asked for'), one('send', 7), quiet, ...inquired],
  [...authorized, one('capture is asked for'), ...lostAgain(5)],
  [...authorized, one('void is asked for'), ...lostAgain(5), one('person resolves', 0, 1), ...inquired],
  [...authorized, one('void is asked for'), one('send', 1), one('answer arrives', 1)],
  approved,
  [...approved, one('operator refunds', 0, 99), ...inquired],
  [...approved, ...revised, ...revised, ...revised],
  [...approved, one('refund is asked for', 0, 200)],
  [...approved, one('refund is asked for', 0, 1001), one('send', 1), one('answer arrives', 1)],
  [
    ...[...approved, one('refund is asked for', 0, 300), one('send', 1)],
    ...[one('refund is decided', 0, 1), one('callback arrives')],
  ],
  [...approved, one('refund is asked for', 0, 300), one('send', 5), quiet, ...inquired],
  [...approved, one('refund is asked for', 0, 300), one('send', 3), one('answer arrives', 1), ...inquired],
  [...approved, one('operator refunds', 0, 399), one('refund is asked for', 0, 399), one('send', 8)],
  [
    ...approved,
    one('refund is asked for', 1, 11),
    one('send', 1),
    one('answer arrives', 1),
    one('days pass'),
  ],
  [...disputed, one('refund is asked for', 0, 700)],
  decidedAs(4),
  decidedAs(1),
  decidedAs(2),
  openAgain,
  [...openAgain, one('payment expires'), ...inquired],
  [...openAgain, one('person resolves'), one('payment expires'), ...inquired],
  [one('send', 3), one('answer arrives')],
  [one('send', 4), one('answer arrives')],
  [one('send', 5), one('answer arrives')],
  lost,
  notFound,
  [...notFound, one('effect of a slow call')],
  [...notFound, ...undone, one('person resolves', 0, 2), one('answer arrives', 1)],
];
const happenings = fc
  .tuple(fc.constantFrom(...beginnings), fc.noBias(fc.array(happening, { maxLength: 80, size: 'max' })))
  .map(([beginning, mess]) => [one('request'), ...beginning, ...mess]);

const hasOpened = (history: readonly PaymentEvent[], kind: DiscrepancyKind): boolean =>
  history.some((event) => event.type === 'ReviewOpened' && event.data.discrepancy?.kind === kind);

const shownIn = (command: PaymentInput): readonly ObservedPayment[] =>
  command.type === 'RecordSearch' ? command.found : 'observed' in command ? [command.observed] : [];

/** No customer can pay on a page that was never handed out. */
const mayTakeMoney = (kind: string, status: string): boolean =>
  status !== 'declined' && status !== 'expired' && (status !== 'init' || kind !== 'hosted');

const isAwaited = ({ phase }: Payment): boolean => phase === 'requested' || phase === 'unresolved';

/** I1: at most one provider token is accepted. */
function checkAcceptedOnce(world: World): void {
  const tokens = world.history.filter(({ type }) => type === 'AttemptAccepted');
  expect(tokens.length).toBeLessThanOrEqual(1);
}

/** I1: a second payment that took money, or may, leaves a discrepancy. */
function checkDuplicates(command: PaymentInput, before: PaymentState, { state }: World): void {
  // An awaited payment changes only by its inquiry, which may come too early.
  if (state === undefined || before === undefined || isAwaited(before) || isAwaited(state)) return;
  for (const { serviceToken, status } of shownIn(command))
    if (serviceToken !== state.serviceToken && mayTakeMoney(state.terms.kind, status))
      expect(state.discrepancies.map((each) => each.serviceToken)).toContain(serviceToken);
}

/** I2 and I15. Only a revision by the provider can break the sums; then a review is open or answered. */
function checkSums(world: World): void {
  const { state } = world;
  if (state === undefined) return;
  const reserved = reservedAmount(state);
  for (const sum of [state.authorizedAmount, state.approvedAmount, state.refundedAmount, reserved]) {
    expect(Number.isSafeInteger(sum)).toBe(true);
    expect(sum).toBeGreaterThanOrEqual(0);
  }
  const confirmed = world.history.reduce((sum, event) => afterRefund(sum, event, state), 0);
  expect(state.refundedAmount).toBe(confirmed);
  if (!world.history.some(({ type }) => type === 'FinalStatusRevised'))
    expect(state.refundedAmount + reserved).toBeLessThanOrEqual(state.approvedAmount);
  expect(state.authorizedAmount === 0 || !isFinalPhase(state.phase)).toBe(true);
}

function afterRefund(sum: number, event: PaymentEvent, { refunds }: Payment): number {
  if (event.type === 'ExternalRefundObserved') return sum + event.data.amount;
  if (event.type === 'FinalStatusRevised') return event.data.refundedAmount ?? sum;
  if (event.type !== 'RefundApproved') return sum;
  return (
    sum + (refunds.find(({ refundToken }) => refundToken === event.data.refundToken)?.amount ?? Number.NaN)
  );
}

/**
 * I11: no status moves back. A paid one changes by a refund or by a person who accepts the provider's record; an unpaid final
 * one follows the provider.
 */
function checkHistory({ history, state: current }: World): void {
  let state: PaymentState;
  for (const [index, event] of history.entries()) {
    const before = state;
    state = evolve(before, event);
    checkMachine(before, event, state);
    const [from, to] = [before, state].map((each) =>
      each === undefined ? 'init' : statusOfPhase(each.phase),
    );
    if (from === to || from === 'init') continue;
    if (from === 'pending') expect(to).not.toBe('init');
    else expect(['FinalStatusRevised', 'RefundApproved', 'ExternalRefundObserved']).toContain(event.type);
    if (event.type === 'FinalStatusRevised' && (from === 'approved' || from === 'refunded'))
      expect(history[index - 1]).toMatchObject({ data: { resolution: 'accept_theirs' } });
  }
  expectSame(state, current);
}

/** The calls in the fold are those in the machine's state. */
function checkMachine(before: PaymentState, event: PaymentEvent, after: Payment): void {
  if (before === undefined || event.type === 'PaymentRequested' || event.type === 'PaymentAdopted') return;
  const next = paymentWalk.next(machineStateOf(before), toMachineEvent(after, event));
  expectSame(machineStateOf(after), next);
}

/** As `toEqual`, but fast enough for hundreds of thousands of calls. */
const expectSame = (actual: unknown, expected: unknown) =>
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));

function checkDecision(
  command: PaymentInput,
  events: readonly PaymentEvent[],
  before: PaymentState,
  world: World,
) {
  checkDuplicates(command, before, world);
  // The same command on the same payment was checked the first time.
  if (events.length === 0) return;
  // Pure: the same command on the same payment returns the same events.
  expectSame(decide(before, command), { kind: 'events', events });
  expectSame(events.reduce<PaymentState>(evolve, before), world.state);
  // Idempotent: a repeat changes nothing, except that a resolution in effect cannot be repeated.
  const again =
    command.type === 'ResolveReview' && events[0]?.type !== 'ReviewResolutionProposed'
      ? { kind: 'refused', refusal: { code: 'review_not_found' } }
      : { kind: 'events', events: [] };
  expectSame(decide(world.state, command), again);
  checkReviewsResolved(before, events);
  checkUndisputed(before, events);
  // Appended events can be read back.
  for (const event of events) expect(decodePaymentEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
}

/** A resolved review was open until then, or acknowledged. */
function checkReviewsResolved(before: PaymentState, events: readonly PaymentEvent[]): void {
  let state = before;
  for (const event of events) {
    const { reviews = [], acknowledged = [], discrepancies = [] } = state ?? {};
    const known = [...reviews, ...acknowledged, ...discrepancies].map(({ number }) => number);
    if (event.type === 'ReviewResolved') expect(known).toContain(event.data.number);
    state = evolve(state, event);
  }
}

/** No refund is announced of money that is disputed or lost. */
function checkUndisputed(before: PaymentState, events: readonly PaymentEvent[]): void {
  for (const event of events) {
    if (event.type !== 'RefundSubmitted' || before === undefined) continue;
    const { approvedAmount, refundedAmount } = before;
    const left = approvedAmount - refundedAmount - reservedAmount(before);
    expect(event.data.amount).toBeLessThanOrEqual(left - disputedAmount(before) - lostAmount(before));
  }
}

function createCheckedWorld(kind: (typeof kinds)[number]): World {
  const world: World = createWorld(kind, (command, events, before) =>
    checkDecision(command, events, before, world),
  );
  return world;
}

function check(world: World): void {
  checkAcceptedOnce(world);
  checkSums(world);
  checkLedger(world);
}

/** The provider's ledger is the truth about money: one payment per customer, one card per payment. */
function checkLedger({ kind, sent, ledger, state }: World): void {
  const { payments, refunds } = ledger;
  if (kind !== 'hosted') expect(payments.length).toBeLessThanOrEqual(1);
  const paid = payments.filter(({ status }) => status === 'approved' || status === 'refunded');
  expect(paid.length).toBeLessThanOrEqual(1);
  for (const { amount, refundedAmount } of payments) expect(refundedAmount).toBeLessThanOrEqual(amount);
  // I4: each announced call is sent once, and each refund key executed once.
  expect(new Set(sent).size).toBe(sent.length);
  expect(new Set(refunds.map(({ refundToken }) => refundToken)).size).toBe(refunds.length);
  expect(state?.refunds.filter((refund) => !isDecided(refund)).length ?? 0).toBeLessThanOrEqual(1);
}

const contradicts = ({ kind }: Happening): boolean =>
  kind === 'operator revises' || kind === 'service mistells';

describe.each(kinds)('a %s payment', (kind) => {
  test('keeps the invariants under any sequence of actions', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(happenings, (all) => {
        const world = createCheckedWorld(kind);
        for (const each of all) {
          const eventCount = world.history.length;
          happen(world, each);
          if (world.history.length > eventCount) check(world);
        }
        check(world);
        checkHistory(world);
        for (const event of world.history) {
          seen.add(event.type);
          if (event.type === 'ReviewOpened') seen.add(event.data.discrepancy?.kind ?? event.data.code);
        }
        for (const code of world.refusals) seen.add(`refused: ${code}`);
      }),
      { numRuns: propertyRuns(800) },
    );
    // A model with few events proves little.
    const unseen = expectedToBeSeen[kind].filter((each) => !seen.has(each));
    if (isWholeRun) expect(unseen).toEqual([]);
  });

  test("has the provider's status, or is under review, once the faults have ended", () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const world = createWorld(kind);
        for (const each of all) happen(world, each);
        settle(world);
        check(world);
        checkHistory(world);
        checkAgreement(world);
        checkReserved(world);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('opens no discrepancy unless the provider contradicts itself', () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const world = createWorld(kind);
        for (const each of all) if (!contradicts(each)) happen(world, each);
        settle(world);
        // A payment found after its failure is a contradiction.
        if (world.history.some(({ type }) => type === 'PaymentFailed')) return;
        expect(hasOpened(world.history, 'final_status_revised')).toBe(false);
        expect(hasOpened(world.history, 'terms_disagree')).toBe(false);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

/** I9. */
function checkAgreement(world: World): void {
  const { state, ledger } = world;
  expect(state?.deferredCallbacks ?? []).toEqual([]);
  const own = ownPayment(world);
  for (const { serviceToken, disputeToken, state: decided } of ledger.disputes)
    if (serviceToken === state?.serviceToken)
      expect(state.disputes).toContainEqual(expect.objectContaining({ disputeToken, state: decided }));
  // A payment that a person acknowledged or kept stays as it is here: it is settled elsewhere.
  if (state === undefined || state.reviews.length + state.discrepancies.length > 0) return;
  if (state.acknowledged.length > 0) return;
  expect(isFinalPhase(state.phase)).toBe(true);
  expect(state.refunds.every(isDecided)).toBe(true);
  if (own === undefined) {
    expect(state.phase).toBe('failed');
    expect(ledger.payments.filter(isPaid)).toEqual([]);
    return;
  }
  expect(statusOfPhase(state.phase)).toBe(own.status);
  if (isPaid(own))
    expect(state).toMatchObject({ approvedAmount: own.amount, refundedAmount: own.refundedAmount });
}

/** No answer of a person makes more spendable than the provider has left of the payment. */
function checkReserved(world: World): void {
  const { state } = world;
  const own = ownPayment(world);
  if (state === undefined || own === undefined || !isPaidPhase(state)) return;
  const there = isPaid(own) ? own.amount - own.refundedAmount : 0;
  const spendable =
    state.approvedAmount - state.refundedAmount - reservedAmount(state) - reservedByDiscrepancies(state);
  expect(spendable).toBeLessThanOrEqual(there);
}

const seenInAll = [
  ...['AttemptAccepted', 'AttemptNotSent', 'AttemptRefused', 'AttemptStarted', 'AttemptUnresolved'],
  ...['ReviewOpened', 'ReviewResolutionProposed', 'ReviewResolved', 'CaptureRefused', 'CaptureSubmitted'],
  ...['CaptureUnresolved', 'VoidRefused', 'VoidSubmitted', 'VoidUnresolved', 'PaymentVoided'],
  ...['ExternalRefundObserved', 'FinalStatusRevised', 'PaymentApproved', 'PaymentDeclined', 'PaymentExpired'],
  ...['PaymentFailed', 'PaymentAuthorized', 'PaymentPending', 'PaymentRequested', 'RecurringTokenIssued'],
  ...['RefundAccepted', 'RefundApproved', 'RefundDeclined', 'RefundSubmitted', 'RefundUnresolved'],
  ...['CallbackDeferred', 'CallbackInquired', 'final_status_revised', 'refund_unresolved', 'only_here'],
  ...['terms_disagree', 'capture_unresolved', 'void_unresolved', 'unknown_status'],
  ...['DisputeOpened', 'DisputeChanged', 'DisputeWon', 'DisputeLost', 'dispute_opened'],
  ...['service_not_readable', 'refused: payment_not_refundable', 'refused: payment_disputed'],
  ...['refused: review_not_found', 'refused: idempotency_key_reused', 'refused: operation_in_progress'],
  ...['refused: payment_in_final_state', 'refused: payment_not_confirmable'],
  ...['refused: refund_exceeds_amount', 'refused: resolution_not_allowed'],
];
const expectedToBeSeen = {
  hosted: [...seenInAll, 'AttemptNotFound', 'second_payment_found'].sort(),
  card: [...seenInAll, 'attempt_not_found'].sort(),
  recurring: [...seenInAll, 'attempt_not_found'].sort(),
};
