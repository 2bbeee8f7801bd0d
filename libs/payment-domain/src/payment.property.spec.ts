import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createWorld,
  happen,
  happeningKinds,
  settle,
  type Happening,
  type World,
} from '../testing/payment-world.ts';
import type { PaymentCommand } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import { decodePaymentEvent, type PaymentEvent } from './payment-events.ts';
import { isFinalPhase, statusOfPhase } from './payment-machine.ts';
import { evolve, reservedAmount, type Payment, type PaymentState } from './payment-state.ts';

const kinds = ['hosted', 'card', 'recurring'] as const;

// What moves a payment on is drawn more often, so that runs get far; the first thing is always the request.
const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.oneof(
    fc.constantFrom(...happeningKinds),
    fc.constantFrom(
      ...(['send', 'answer arrives', 'look begins', 'look is recorded', 'time passes'] as const),
      ...(['picture is taken', 'picture is recorded', 'customer acts'] as const),
    ),
  ),
  pick: fc.nat(1_000),
  size: fc.nat(10_000),
});
const one = (kind: Happening['kind'], pick = 0, size = 0): Happening => ({ kind, pick, size });
const looked = [one('picture is taken'), one('picture is recorded')];
const accepted = [one('send', 2), one('answer arrives'), ...looked];
const lost = [one('send', 7), one('answer arrives')];
const slow = [one('send', 8), one('answer arrives'), one('time passes', 4)];
const pending = [
  ...accepted,
  one('customer acts', 0, 0),
  one('picture is taken'),
  one('picture is recorded', 1),
];
const approved = [
  ...accepted,
  one('customer acts', 0, 2),
  one('picture is taken'),
  one('picture is recorded', 1),
];
/** How far a payment has come when the mess begins: random steps alone seldom lead to a refund. */
const beginnings: Happening[][] = [
  [],
  accepted,
  pending,
  [...pending, one('customer acts', 0, 1)],
  [...pending, one('payment expires')],
  approved,
  [...approved, one('refund is submitted', 0, 200)],
  [...approved, one('refund is submitted', 0, 999), one('refund is carried out', 1)],
  [one('send', 3), one('answer arrives')],
  [one('send', 4), one('answer arrives')],
  lost,
  [...slow, one('look begins'), one('look is recorded'), one('effect of a slow call')],
];
const happenings = fc
  .tuple(fc.constantFrom(...beginnings), fc.noBias(fc.array(happening, { maxLength: 80, size: 'max' })))
  .map(([beginning, mess]) => [one('request'), ...beginning, ...mess]);

const raised = (history: readonly PaymentEvent[], code: string): boolean =>
  history.some((event) => event.type === 'AttentionRaised' && event.data.code === code);

/** Service tokens that a command tells of. */
function tokensIn(command: PaymentCommand): string[] {
  switch (command.type) {
    case 'RecordCreationOutcome':
      return command.outcome.kind === 'accepted' ? [command.outcome.serviceToken] : [];
    case 'RecordLookup':
      return command.found.map(({ serviceToken }) => serviceToken);
    case 'RecordObservation':
      return [command.observed.serviceToken];
    default:
      return [];
  }
}

const isAwaited = ({ phase }: Payment): boolean => phase === 'requested' || phase === 'unresolved';

/** I1: at most one service token is accepted. */
function checkAcceptedOnce(world: World): void {
  const tokens = world.history.filter(({ type }) => type === 'AttemptAccepted');
  expect(tokens.length).toBeLessThanOrEqual(1);
}

/** I1: whoever tells of a second payment calls a person. */
function checkTelling(command: PaymentCommand, before: PaymentState, world: World): void {
  const { state } = world;
  // A picture of a payment that is still awaited tells nothing, the look that is due then does; a look may come too early.
  if (state === undefined || before === undefined || isAwaited(state)) return;
  if (command.type === 'RecordObservation' && isAwaited(before)) return;
  const isKnown = (token: string) => token === state.serviceToken;
  // A failed payment has no token: pictures of what turned up are taken for it while they contradict nothing.
  const isOfFailed = command.type === 'RecordObservation' && before.serviceToken === undefined;
  if (isOfFailed || tokensIn(command).every(isKnown)) return;
  expect(raised(world.history, 'second_payment_found') || raised(world.history, 'terms_disagree')).toBe(true);
}

/** I2 and I15. The service alone can break the sums, by a revision; then a person has been called. */
function checkSums(world: World): void {
  const { state } = world;
  if (state === undefined) return;
  const reserved = reservedAmount(state);
  for (const sum of [state.heldAmount, state.approvedAmount, state.refundedAmount, reserved]) {
    expect(Number.isSafeInteger(sum)).toBe(true);
    expect(sum).toBeGreaterThanOrEqual(0);
  }
  const confirmed = world.history.reduce((sum, event) => sum + refundIn(event, state), 0);
  expect(state.refundedAmount).toBe(confirmed);
  if (!raised(world.history, 'final_status_revised'))
    expect(state.refundedAmount + reserved).toBeLessThanOrEqual(state.approvedAmount);
  expect(state.heldAmount === 0 || !isFinalPhase(state.phase)).toBe(true);
}

function refundIn(event: PaymentEvent, { refunds }: Payment): number {
  if (event.type === 'ExternalRefundObserved') return event.data.amount;
  if (event.type !== 'RefundApproved') return 0;
  return refunds.find(({ refundToken }) => refundToken === event.data.refundToken)?.amount ?? Number.NaN;
}

/** I11: where a status has got to, it does not go back; a final one is changed by a refund, or by a revision that a person sees. */
function checkHistory(history: readonly PaymentEvent[]): void {
  let state: PaymentState;
  for (const [index, event] of history.entries()) {
    const before = state;
    state = evolve(before, event);
    const [from, to] = [before, state].map((each) =>
      each === undefined ? 'init' : statusOfPhase(each.phase),
    );
    if (from === to || from === 'init') continue;
    if (from === 'pending') expect(to).not.toBe('init');
    else expect(['FinalStatusRevised', 'RefundApproved', 'ExternalRefundObserved']).toContain(event.type);
    if (event.type === 'FinalStatusRevised')
      expect(raised(history.slice(0, index + 3), 'final_status_revised')).toBe(true);
  }
}

/** As `toEqual`, fast enough to be asked hundreds of thousands of times. */
const expectSame = (actual: unknown, expected: unknown) =>
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));

function checkDecision(
  command: PaymentCommand,
  events: readonly PaymentEvent[],
  before: PaymentState,
  world: World,
) {
  // Deterministic, and pure: the same command on the same payment gives the same events.
  expectSame(decide(before, command), { kind: 'events', events });
  expectSame(events.reduce<PaymentState>(evolve, before), world.state);
  // Idempotent: the second time tells nothing new.
  expectSame(decide(world.state, command), { kind: 'events', events: [] });
  // What is appended can be read back.
  for (const event of events) expect(decodePaymentEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
  checkTelling(command, before, world);
}

function createCheckedWorld(kind: (typeof kinds)[number]): World {
  const world: World = createWorld(kind, (command, events, before) =>
    checkDecision(command, events, before, world),
  );
  return world;
}

function check(world: World): void {
  expectSame(world.history.reduce<PaymentState>(evolve, undefined), world.state);
  checkAcceptedOnce(world);
  checkSums(world);
  // The truth about money is the service's ledger: nobody has paid twice, and nobody's card was sent to two payments.
  if (world.kind !== 'hosted') expect(world.service.length).toBeLessThanOrEqual(1);
  const paid = world.service.filter(({ status }) => status === 'approved' || status === 'refunded');
  expect(paid.length).toBeLessThanOrEqual(1);
}

describe.each(kinds)('a %s payment', (kind) => {
  test('keeps the invariants, whatever happens in whatever order', () => {
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
        checkHistory(world.history);
        for (const event of world.history)
          seen.add(event.type === 'AttentionRaised' ? event.data.code : event.type);
      }),
      { numRuns: 600 },
    );
    // A model in which little happens proves little.
    expect([...seen].sort()).toEqual(expectedToBeSeen[kind]);
  });

  test('is final as the service shows it, or has a person’s attention, once the faults have ended', () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const world = createCheckedWorld(kind);
        for (const each of all) happen(world, each);
        settle(world);
        check(world);
        checkHistory(world.history);
        checkAgreement(world);
      }),
      { numRuns: 600 },
    );
  });

  test('calls nobody for a contradiction while the service does not contradict itself', () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const world = createCheckedWorld(kind);
        for (const each of all) if (each.kind !== 'operator revises') happen(world, each);
        settle(world);
        // What turns up after a payment has failed does contradict it.
        if (world.history.some(({ type }) => type === 'PaymentFailed')) return;
        expect(raised(world.history, 'final_status_revised')).toBe(false);
        expect(raised(world.history, 'terms_disagree')).toBe(false);
      }),
      { numRuns: 600 },
    );
  });
});

/** I9. */
function checkAgreement({ state, service }: World): void {
  if (state === undefined || state.attention.length > 0) return;
  expect(isFinalPhase(state.phase)).toBe(true);
  const own = service.find(({ serviceToken }) => serviceToken === state.serviceToken);
  if (own === undefined) {
    expect(state.phase).toBe('failed');
    expect(service.filter(({ status }) => status === 'approved' || status === 'refunded')).toEqual([]);
    return;
  }
  expect(statusOfPhase(state.phase)).toBe(own.status);
  if (own.status !== 'approved' && own.status !== 'refunded') return;
  expect(state).toMatchObject({ approvedAmount: own.amount, refundedAmount: own.refundedAmount });
}

const seenInAll = [
  ...['AttemptAccepted', 'AttemptNotSent', 'AttemptRefused', 'AttemptStarted', 'AttemptUnresolved'],
  ...['ExternalRefundObserved', 'FinalStatusRevised', 'PaymentApproved', 'PaymentDeclined', 'PaymentExpired'],
  ...['PaymentFailed', 'PaymentHeld', 'PaymentPending', 'PaymentRequested'],
  ...['RefundApproved', 'RefundDeclined', 'RefundSubmitted', 'RefundUnresolved'],
  ...['final_status_revised', 'service_payment_missing', 'terms_disagree'],
];
const expectedToBeSeen = {
  hosted: [...seenInAll, 'AttemptNotFound', 'second_payment_found'].sort(),
  card: [...seenInAll, 'attempt_not_found'].sort(),
  recurring: [...seenInAll, 'attempt_not_found'].sort(),
};
