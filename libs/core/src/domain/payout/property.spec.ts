import { isWholeRun, propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createPayoutWorld,
  happenToPayout,
  payoutHappeningKinds,
  settlePayout,
  type PayoutHappening,
  type PayoutWorld,
} from '../testing/payout-world.ts';
import type { PayoutInput } from './payout-commands.ts';
import { decidePayout } from './payout-decide.ts';
import {
  decodePayoutEvent,
  payoutReviewCodes,
  payoutEventSchemas,
  type PayoutEvent,
} from './payout-events.ts';
import { isFinalPayoutPhase, statusOfPayoutPhase } from './payout-machine.ts';
import {
  evolvePayout,
  inquiryNeedOfPayout,
  reservedByPayoutDiscrepancies,
  type Payout,
  type PayoutState,
} from './payout-state.ts';

// Actions that make progress are drawn more often, so that runs get far; the first is always the request.
const happening: fc.Arbitrary<PayoutHappening> = fc.record({
  kind: fc.oneof(
    fc.constantFrom(...payoutHappeningKinds),
    fc.constantFrom(
      ...(['send', 'answer arrives', 'inquiry begins', 'inquiry is recorded', 'time passes'] as const),
      ...(['snapshot is taken', 'snapshot is recorded', 'service decides'] as const),
    ),
  ),
  pick: fc.nat(1_000),
});
const one = (kind: PayoutHappening['kind'], pick = 0): PayoutHappening => ({ kind, pick });
/** A person has checked the provider, and answered. */
const acknowledged = [one('snapshot is taken'), one('snapshot is recorded'), one('person resolves', 1)];
/** The progress of a payout before the random actions. */
const beginnings: PayoutHappening[][] = [
  [one('request')],
  [one('approval is asked for')],
  [one('approval is asked for'), one('second key approves', 1)],
  [
    one('approval is asked for'),
    one('second key approves', 1),
    one('request'),
    one('send'),
    one('answer arrives'),
  ],
  [one('request'), one('send'), one('answer arrives')],
  [one('request'), one('send', 1), one('answer arrives')],
  [one('request'), one('send', 6), one('answer arrives')],
  [
    ...[one('request'), one('send', 1), one('answer arrives'), one('operator corrects the amount')],
    ...[...acknowledged, one('operator revises'), ...acknowledged],
  ],
  [
    one('request'),
    one('send', 15),
    one('answer arrives'),
    one('time passes', 4),
    one('inquiry begins'),
    one('inquiry is recorded'),
  ],
];
const happenings = fc
  .tuple(fc.constantFrom(...beginnings), fc.noBias(fc.array(happening, { maxLength: 60, size: 'max' })))
  .map(([beginning, mess]) => [...beginning, ...mess]);

const hasReview = (history: readonly PayoutEvent[], code: string): boolean =>
  history.some((event) => event.type === 'ReviewOpened' && event.data.code === code);

/** As `toEqual`, but fast enough for hundreds of thousands of calls. */
const expectSame = (actual: unknown, expected: unknown) =>
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));

function checkDecision(
  command: PayoutInput,
  events: readonly PayoutEvent[],
  before: PayoutState,
  world: PayoutWorld,
): void {
  // Pure: the same command on the same payout returns the same events.
  expectSame(decidePayout(before, command), { kind: 'events', events });
  // Idempotent: a repeat changes nothing.
  const again = decidePayout(world.state, command);
  const isHeld = events.some(({ type }) => type === 'ReviewResolved');
  if (command.type === 'ResolveReview' && isHeld) expect(again).toMatchObject({ kind: 'refused' });
  else expectSame(again, { kind: 'events', events: [] });
  // Appended events can be read back.
  for (const event of events) expect(decodePayoutEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
}

function createCheckedWorld(): PayoutWorld {
  const world: PayoutWorld = createPayoutWorld((command, events, before) =>
    checkDecision(command, events, before, world),
  );
  return world;
}

/** The provider's ledger is the truth about money. */
function checkMoney(world: PayoutWorld): void {
  expect(world.sentCount).toBeLessThanOrEqual(1);
  expect(world.service.filter(({ isStranger }) => isStranger !== true).length).toBeLessThanOrEqual(1);
  expect(world.history.filter(({ type }) => type === 'PayoutRequested').length).toBeLessThanOrEqual(1);
  expect(world.history.filter(({ type }) => type === 'PayoutAccepted').length).toBeLessThanOrEqual(1);
}

/** A status is decided once; a final one changes only if a person accepts the provider's record. */
function checkHistory(history: readonly PayoutEvent[]): void {
  let state: PayoutState;
  for (const [index, event] of history.entries()) {
    const before = state;
    state = evolvePayout(before, event);
    if (before === undefined || statusOfPayoutPhase(before.phase) === statusOfPayoutPhase(state.phase))
      continue;
    if (!isFinalPayoutPhase(before.phase)) continue;
    expect(event.type).toBe('FinalStatusRevised');
    expect(history[index - 1]).toMatchObject({ data: { resolution: 'accept_theirs' } });
  }
}

/** It is ours and recorded, or a discrepancy has the provider's record. */
function checkTruth(state: Payout, shown: PayoutWorld['service'][number]): void {
  const { serviceToken, status, amount } = shown;
  const isOurs = (state.serviceToken ?? serviceToken) === serviceToken;
  if (isOurs && status === statusOfPayoutPhase(state.phase) && amount === state.terms.amount) return;
  const about = state.discrepancies.find((each) => each.serviceToken === serviceToken);
  if (about === undefined && !isOurs && status === 'declined') return;
  expect(about?.theirs ?? JSON.stringify({ shown, state })).toMatchObject({ status, amount });
}

/** No answer of a person frees money that may have been paid out: only the provider's record, accepted or shown, does. */
function checkReserved({ state, service }: PayoutWorld): void {
  if (state === undefined) return;
  const paidOut = service
    .filter(({ status }) => status !== 'declined')
    .filter(
      ({ serviceToken }) =>
        serviceToken === state.serviceToken ||
        state.discrepancies.some((each) => each.serviceToken === serviceToken),
    )
    .reduce((sum, { amount }) => sum + amount, 0);
  const ours = statusOfPayoutPhase(state.phase) === 'declined' ? 0 : state.terms.amount;
  expect(ours + reservedByPayoutDiscrepancies(state)).toBeGreaterThanOrEqual(paidOut);
}

test('pays out once and keeps the invariants under any sequence of actions', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(happenings, (all) => {
      const world = createCheckedWorld();
      for (const each of all) {
        happenToPayout(world, each);
        checkMoney(world);
      }
      expectSame(world.history.reduce<PayoutState>(evolvePayout, undefined), world.state);
      checkHistory(world.history);
      for (const event of world.history)
        seen.add(event.type === 'ReviewOpened' ? event.data.code : event.type);
    }),
    { numRuns: propertyRuns(1_000) },
  );
  // A model with few events proves little.
  const expected = [...Object.keys(payoutEventSchemas), ...payoutReviewCodes].filter(
    (each) => each !== 'ReviewOpened',
  );
  if (isWholeRun) expect(expected.filter((each) => !seen.has(each))).toEqual([]);
});

test("has the provider's status, or is under review, once the faults have ended", () => {
  fc.assert(
    fc.property(happenings, (all) => {
      const world = createCheckedWorld();
      for (const each of all) happenToPayout(world, each);
      settlePayout(world);
      checkMoney(world);
      checkHistory(world.history);
      const { state, service } = world;
      if (state === undefined) return;
      for (const shown of service) checkTruth(state, shown);
      checkReserved(world);
      if (service.length === 0 && state.phase !== 'failed')
        expect(hasReview(world.history, 'payout_not_found')).toBe(true);
      // No payout waits without an inquiry.
      expect(isFinalPayoutPhase(state.phase)).toBe(inquiryNeedOfPayout(state) === 'settled');
      expect(state.deferredCallbacks).toEqual([]);
    }),
    { numRuns: propertyRuns(1_000) },
  );
});

test('is in review if the provider has reopened it, once the read is not stale', () => {
  fc.assert(
    fc.property(happenings, (all) => {
      const world = createCheckedWorld();
      for (const each of [...all, one('operator opens it again'), one('hours pass')])
        happenToPayout(world, each);
      world.snapshots = [];
      for (const kind of ['snapshot is taken', 'snapshot is recorded'] as const)
        happenToPayout(world, one(kind));
      checkHistory(world.history);
      const { state, service } = world;
      const [own] = service;
      if (own === undefined || state?.serviceToken !== own.serviceToken) return;
      if (state.phase === 'pending' && own.amount === state.terms.amount) return;
      expect(state.discrepancies).toContainEqual(
        expect.objectContaining({ theirs: expect.objectContaining({ status: 'pending' }) }),
      );
    }),
    { numRuns: propertyRuns(1_000) },
  );
});

test('opens no discrepancy unless the provider or a person contradicts itself', () => {
  fc.assert(
    fc.property(happenings, (all) => {
      const world = createCheckedWorld();
      const calm = all.filter(
        ({ kind }) => kind !== 'person resolves' && !/^(operator|another) /u.test(kind),
      );
      for (const each of calm) happenToPayout(world, each);
      settlePayout(world);
      const isContradiction = (event: PayoutEvent) =>
        event.type === 'ReviewOpened' && ![undefined, 'only_here'].includes(event.data.discrepancy?.kind);
      expect(world.history.filter(isContradiction)).toEqual([]);
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
