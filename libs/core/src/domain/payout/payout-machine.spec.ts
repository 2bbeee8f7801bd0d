import { describe, expect, test } from 'vitest';
import { InvariantViolation } from '../invariant.ts';
import { payoutEventSchemas } from './payout-events.ts';
import {
  isFinalPayoutPhase,
  payoutMachine,
  payoutPhaseOf,
  payoutPhases,
  payoutStateOf,
  payoutWalk,
  statusOfPayoutPhase,
  type PayoutMachineEvent,
  type PayoutPhase,
} from './payout-machine.ts';

/** The machine's events by name, followed by a colon and the fact that decides the next state. */
const machineEvents: Record<string, PayoutMachineEvent> = {
  PayoutApprovalGranted: { type: 'PayoutApprovalGranted' },
  PayoutApprovalRefused: { type: 'PayoutApprovalRefused' },
  PayoutRequested: { type: 'PayoutRequested' },
  PayoutAccepted: { type: 'PayoutAccepted' },
  PayoutRefused: { type: 'PayoutRefused' },
  PayoutNotSent: { type: 'PayoutNotSent' },
  PayoutUnresolved: { type: 'PayoutUnresolved' },
  PayoutApproved: { type: 'PayoutApproved' },
  PayoutDeclined: { type: 'PayoutDeclined' },
  PayoutFailed: { type: 'PayoutFailed' },
  'FinalStatusRevised:approved': { type: 'FinalStatusRevised', to: 'approved' },
  'FinalStatusRevised:declined': { type: 'FinalStatusRevised', to: 'declined' },
  'FinalStatusRevised:pending': { type: 'FinalStatusRevised', to: 'pending' },
  CallbackDeferred: { type: 'CallbackDeferred' },
  CallbackInquired: { type: 'CallbackInquired' },
  ReviewOpened: { type: 'ReviewOpened' },
  ReviewResolutionProposed: { type: 'ReviewResolutionProposed' },
  ReviewResolved: { type: 'ReviewResolved' },
};

/** The lifecycle. Events missing in a row are not allowed in that phase; reviews and callbacks always are. */
const lifecycle: Record<PayoutPhase, Record<string, PayoutPhase>> = {
  awaiting_approval: {
    PayoutApprovalGranted: 'approval_granted',
    PayoutApprovalRefused: 'awaiting_approval',
    PayoutFailed: 'failed',
  },
  approval_granted: {
    PayoutRequested: 'requested',
    PayoutApprovalRefused: 'approval_granted',
    PayoutFailed: 'failed',
  },
  requested: {
    PayoutAccepted: 'pending',
    PayoutRefused: 'requested',
    PayoutNotSent: 'requested',
    PayoutUnresolved: 'unresolved',
    PayoutFailed: 'failed',
  },
  unresolved: {
    PayoutAccepted: 'pending',
    PayoutRefused: 'unresolved',
    PayoutNotSent: 'unresolved',
    PayoutFailed: 'failed',
  },
  pending: { PayoutApproved: 'approved', PayoutDeclined: 'declined' },
  approved: { 'FinalStatusRevised:declined': 'declined' },
  declined: { 'FinalStatusRevised:approved': 'approved', 'FinalStatusRevised:pending': 'pending' },
  failed: { 'FinalStatusRevised:approved': 'approved', 'FinalStatusRevised:pending': 'pending' },
};

const payoutPhaseAfter = (phase: PayoutPhase, event: PayoutMachineEvent): PayoutPhase | undefined => {
  const next = payoutWalk.next(payoutStateOf(phase), event);
  return next && payoutPhaseOf(next);
};

const cells = payoutPhases.flatMap((phase) =>
  Object.entries(machineEvents).map(([name, event]) => ({
    phase,
    name,
    event,
    next: /^Review|^Callback/.test(name) ? phase : lifecycle[phase][name],
  })),
);

test('the table has every event type except PayoutApprovalRequested, which only begins a payout', () => {
  const names = new Set(Object.values(machineEvents).map(({ type }) => type));
  expect([...names, 'PayoutApprovalRequested'].sort()).toEqual(Object.keys(payoutEventSchemas).sort());
});

test('the machine has exactly the phases of the table', () => {
  const statesOfMachine = Object.values(payoutMachine.states).flatMap(({ key, states }) => {
    const inner = Object.keys(states);
    return inner.length === 0 ? [key] : inner.map((each) => `${key}.${each}`);
  });
  expect(statesOfMachine.sort()).toEqual(payoutPhases.map((phase) => payoutStateOf(phase).lifecycle).sort());
  expect(Object.keys(lifecycle).sort()).toEqual([...payoutPhases].sort());
});

describe.each(payoutPhases)('in phase %s', (phase) => {
  const row = cells.filter((cell) => cell.phase === phase);

  test.each(row.filter(({ next }) => next !== undefined))('$name leads to $next', ({ event, next }) => {
    expect(payoutPhaseAfter(phase, event)).toBe(next);
  });

  test.each(row.filter(({ next }) => next === undefined))('$name is not allowed', ({ event }) => {
    expect(payoutPhaseAfter(phase, event)).toBeUndefined();
    expect(() => payoutWalk.require(payoutStateOf(phase), event)).toThrow(InvariantViolation);
  });
});

test('a payout begins as requested or waiting for approval, and every phase can be reached from there', () => {
  const reached = new Set<PayoutPhase>(['requested', 'awaiting_approval']);
  // A set that grows during iteration is iterated to its end.
  for (const phase of reached)
    for (const event of Object.values(machineEvents)) reached.add(payoutPhaseAfter(phase, event) ?? phase);
  expect([...reached].sort()).toEqual([...payoutPhases].sort());
});

test('no event leads back to requested: a payout is never called for twice', () => {
  const before = ['requested', 'approval_granted'];
  expect(cells.filter(({ phase, next }) => next === 'requested' && !before.includes(phase))).toEqual([]);
  expect(cells.filter(({ next }) => next === 'awaiting_approval').map(({ phase }) => phase)).not.toContain(
    'requested',
  );
});

test('only a revision changes a final status', () => {
  const changes = cells.filter(
    ({ phase, next }) =>
      isFinalPayoutPhase(phase) &&
      next !== undefined &&
      statusOfPayoutPhase(next) !== statusOfPayoutPhase(phase),
  );
  expect([...new Set(changes.map(({ event }) => event.type))]).toEqual(['FinalStatusRevised']);
});

test.each([
  ['awaiting_approval', 'pending', false],
  ['approval_granted', 'pending', false],
  ['requested', 'pending', false],
  ['unresolved', 'pending', false],
  ['pending', 'pending', false],
  ['approved', 'approved', true],
  ['declined', 'declined', true],
  ['failed', 'declined', true],
] as const)('phase %s shows the status %s, final: %s', (phase, status, isFinal) => {
  expect(statusOfPayoutPhase(phase)).toBe(status);
  expect(isFinalPayoutPhase(phase)).toBe(isFinal);
});
