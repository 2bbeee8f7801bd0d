import { paymentStatuses } from '../money.ts';
import { describe, expect, test } from 'vitest';
import { InvariantViolation } from '../invariant.ts';
import { paymentEventSchemas } from './payment-events.ts';
import {
  isFinalPhase,
  paymentMachine,
  paymentPhases,
  paymentWalk,
  phaseOf,
  statusOfPhase,
  type PaymentMachineEvent,
  type PaymentMachineState,
} from './payment-machine.ts';

/** The machine's events by name, followed by a colon and the fact that decides the next state. */
const machineEvents: Record<string, PaymentMachineEvent> = {
  AttemptAccepted: { type: 'AttemptAccepted' },
  AttemptRefused: { type: 'AttemptRefused' },
  AttemptNotSent: { type: 'AttemptNotSent' },
  AttemptUnresolved: { type: 'AttemptUnresolved' },
  AttemptNotFound: { type: 'AttemptNotFound' },
  AttemptStarted: { type: 'AttemptStarted' },
  PaymentPending: { type: 'PaymentPending' },
  PaymentAuthorized: { type: 'PaymentAuthorized' },
  PaymentApproved: { type: 'PaymentApproved' },
  PaymentDeclined: { type: 'PaymentDeclined' },
  PaymentVoided: { type: 'PaymentVoided' },
  PaymentExpired: { type: 'PaymentExpired' },
  PaymentFailed: { type: 'PaymentFailed' },
  CaptureSubmitted: { type: 'CaptureSubmitted' },
  CaptureRefused: { type: 'CaptureRefused' },
  CaptureUnresolved: { type: 'CaptureUnresolved' },
  VoidSubmitted: { type: 'VoidSubmitted' },
  VoidRefused: { type: 'VoidRefused' },
  VoidUnresolved: { type: 'VoidUnresolved' },
  RefundSubmitted: { type: 'RefundSubmitted' },
  RefundAccepted: { type: 'RefundAccepted' },
  'RefundApproved:in part': { type: 'RefundApproved', inFull: false },
  'RefundApproved:in full': { type: 'RefundApproved', inFull: true },
  RefundDeclined: { type: 'RefundDeclined' },
  RefundUnresolved: { type: 'RefundUnresolved' },
  'ExternalRefundObserved:in part': { type: 'ExternalRefundObserved', inFull: false },
  'ExternalRefundObserved:in full': { type: 'ExternalRefundObserved', inFull: true },
  'FinalStatusRevised:approved': { type: 'FinalStatusRevised', to: 'approved' },
  'FinalStatusRevised:declined': { type: 'FinalStatusRevised', to: 'declined' },
  'FinalStatusRevised:expired': { type: 'FinalStatusRevised', to: 'expired' },
  'FinalStatusRevised:refunded': { type: 'FinalStatusRevised', to: 'refunded' },
  AdoptionDeclaredPayable: { type: 'AdoptionDeclaredPayable' },
  DisputeOpened: { type: 'DisputeOpened' },
  DisputeChanged: { type: 'DisputeChanged' },
  DisputeWon: { type: 'DisputeWon' },
  DisputeLost: { type: 'DisputeLost' },
  RecurringTokenIssued: { type: 'RecurringTokenIssued' },
  CallbackDeferred: { type: 'CallbackDeferred' },
  CallbackInquired: { type: 'CallbackInquired' },
  ReviewOpened: { type: 'ReviewOpened' },
  ReviewResolutionProposed: { type: 'ReviewResolutionProposed' },
  ReviewResolved: { type: 'ReviewResolved' },
};

type Lifecycle = PaymentMachineState['lifecycle'];
type Refund = PaymentMachineState['refund'];
type Row<State> = Record<string, State>;

const outcomes: Row<Lifecycle> = {
  PaymentApproved: 'approved',
  PaymentDeclined: 'declined',
  PaymentExpired: 'expired',
};
const revisions: Row<Lifecycle> = {
  'FinalStatusRevised:approved': 'approved',
  'FinalStatusRevised:declined': 'declined',
  'FinalStatusRevised:expired': 'expired',
  'FinalStatusRevised:refunded': 'refunded',
};
const final = (lifecycle: Lifecycle): Row<Lifecycle> => ({
  ...revisions,
  'RefundApproved:in full': 'refunded',
  'ExternalRefundObserved:in part': lifecycle,
  'ExternalRefundObserved:in full': 'refunded',
});
const attemptEnds: Row<Lifecycle> = {
  AttemptAccepted: 'init',
  AttemptRefused: 'creating.announced',
  AttemptNotSent: 'creating.announced',
  AttemptStarted: 'creating.announced',
  PaymentFailed: 'failed',
};
const captureEnds: Row<Lifecycle> = {
  ...outcomes,
  CaptureSubmitted: 'capturing.announced',
  CaptureRefused: 'authorized',
};
const voidEnds: Row<Lifecycle> = {
  ...outcomes,
  PaymentVoided: 'voided',
  VoidSubmitted: 'voiding.announced',
  VoidRefused: 'authorized',
};

/**
 * The lifecycle. Events missing in a row are not allowed there; reviews, callbacks, disputes and a recurring token always are.
 */
const lifecycle: Record<Lifecycle, Row<Lifecycle>> = {
  'creating.announced': { ...attemptEnds, AttemptUnresolved: 'creating.unresolved' },
  'creating.unresolved': { ...attemptEnds, AttemptNotFound: 'creating.unresolved' },
  init: { ...outcomes, PaymentPending: 'pending', PaymentAuthorized: 'authorized' },
  pending: { ...outcomes, PaymentAuthorized: 'authorized' },
  authorized: {
    ...outcomes,
    PaymentVoided: 'voided',
    CaptureSubmitted: 'capturing.announced',
    VoidSubmitted: 'voiding.announced',
  },
  'capturing.announced': { ...captureEnds, CaptureUnresolved: 'capturing.unresolved' },
  'capturing.unresolved': captureEnds,
  'voiding.announced': { ...voidEnds, VoidUnresolved: 'voiding.unresolved' },
  'voiding.unresolved': voidEnds,
  approved: final('approved'),
  declined: final('declined'),
  voided: final('voided'),
  refunded: final('refunded'),
  expired: final('expired'),
  failed: revisions,
};
const refundEnds: Row<Refund> = {
  'RefundApproved:in part': 'idle',
  'RefundApproved:in full': 'idle',
  RefundDeclined: 'idle',
};
/** The concurrent refund. It begins only while the payment is approved. */
const refund: Record<Refund, Row<Refund>> = {
  idle: {},
  announced: { ...refundEnds, RefundAccepted: 'accepted', RefundUnresolved: 'unresolved' },
  unresolved: { ...refundEnds, RefundAccepted: 'accepted' },
  accepted: refundEnds,
};

const keysOf = <Key extends string>(record: Record<Key, unknown>) => Object.keys(record) as Key[];
const states: PaymentMachineState[] = keysOf(lifecycle).flatMap((at) =>
  keysOf(refund).map((beside) => ({ lifecycle: at, refund: beside })),
);

function expectedAfter(state: PaymentMachineState, name: string): PaymentMachineState | undefined {
  if (/^Review|^Adoption|^Callback|^Dispute|^RecurringTokenIssued$/.test(name)) return state;
  if (name === 'RefundSubmitted')
    return state.lifecycle === 'approved' && state.refund === 'idle'
      ? { ...state, refund: 'announced' }
      : undefined;
  const next = { lifecycle: lifecycle[state.lifecycle][name], refund: refund[state.refund][name] };
  if (next.lifecycle === undefined && next.refund === undefined) return undefined;
  return { lifecycle: next.lifecycle ?? state.lifecycle, refund: next.refund ?? state.refund };
}

const cells = states.flatMap((state) =>
  Object.entries(machineEvents).map(([name, event]) => ({
    state,
    name,
    event,
    next: expectedAfter(state, name),
  })),
);
const lifecycleCells = cells.flatMap(({ state, name, next }) => ({
  name,
  from: phaseOf(state),
  to: next && phaseOf(next),
}));

test('the table has every event type except those that begin a payment', () => {
  const names = new Set(Object.values(machineEvents).map(({ type }) => type));
  expect([...names, 'PaymentRequested', 'PaymentAdopted'].sort()).toEqual(
    Object.keys(paymentEventSchemas).sort(),
  );
});

test('the machine has exactly the states of the table', () => {
  const statesOf = (region: 'lifecycle' | 'refund') =>
    Object.values(paymentMachine.root.states[region]?.states ?? {}).flatMap(({ key, states }) => {
      const inner = Object.keys(states);
      return inner.length === 0 ? [key] : inner.map((each) => `${key}.${each}`);
    });
  expect(statesOf('lifecycle').sort()).toEqual(keysOf(lifecycle).sort());
  expect(statesOf('refund').sort()).toEqual(keysOf(refund).sort());
});

describe.each(keysOf(lifecycle))('in %s', (at) => {
  const row = cells.filter(({ state }) => state.lifecycle === at);

  test.each(Object.keys(machineEvents))('%s leads to the state in the table, or is not allowed', (name) => {
    for (const { state, event, next } of row.filter((cell) => cell.name === name)) {
      expect(paymentWalk.next(state, event)).toEqual(next);
      if (next === undefined) expect(() => paymentWalk.require(state, event)).toThrow(InvariantViolation);
      else expect(paymentWalk.require(state, event)).toEqual(next);
    }
  });
});

test('a cached transition equals the first one', () => {
  for (const { state, event, next } of [...cells, ...cells])
    expect(paymentWalk.next(state, event)).toEqual(next);
});

test('every phase can be reached from a request, and every state of a refund', () => {
  const reached = new Map<string, PaymentMachineState>();
  const reach = (state: PaymentMachineState) => reached.set(JSON.stringify(state), state);
  reach({ lifecycle: 'creating.announced', refund: 'idle' });
  // A map that grows during iteration is iterated to its end.
  for (const state of reached.values())
    for (const event of Object.values(machineEvents)) reach(paymentWalk.next(state, event) ?? state);
  expect(new Set([...reached.values()].map((state) => state.lifecycle))).toEqual(new Set(keysOf(lifecycle)));
  expect(new Set([...reached.values()].map(phaseOf))).toEqual(new Set(paymentPhases));
  expect(new Set([...reached.values()].map((state) => state.refund))).toEqual(new Set(keysOf(refund)));
});

test('no event leads from a final phase to one that is not', () => {
  const wayBack = lifecycleCells.filter(
    ({ from, to }) => isFinalPhase(from) && to !== undefined && !isFinalPhase(to),
  );
  expect(wayBack).toEqual([]);
});

test('only a revision or a refund changes a final status', () => {
  const changes = lifecycleCells.filter(
    ({ from, to }) => isFinalPhase(from) && to !== undefined && statusOfPhase(to) !== statusOfPhase(from),
  );
  expect([...new Set(changes.map(({ name }) => name.split(':')[0]))].sort()).toEqual([
    'ExternalRefundObserved',
    'FinalStatusRevised',
    'RefundApproved',
  ]);
});

test('only the end of an attempt, or another attempt, returns a payment to requested', () => {
  const ways = lifecycleCells.filter(({ from, to }) => to === 'requested' && from !== 'requested');
  expect([...new Set(ways.map(({ from, name }) => `${from} ${name}`))]).toEqual([
    'unresolved AttemptRefused',
    'unresolved AttemptNotSent',
    'unresolved AttemptStarted',
  ]);
});

test.each([
  ['requested', 'init', false],
  ['unresolved', 'init', false],
  ['init', 'init', false],
  ['pending', 'pending', false],
  ['authorized', 'pending', false],
  ['capturing', 'pending', false],
  ['voiding', 'pending', false],
  ['approved', 'approved', true],
  ['declined', 'declined', true],
  ['voided', 'declined', true],
  ['refunded', 'refunded', true],
  ['expired', 'expired', true],
  ['failed', 'declined', true],
] as const)('phase %s shows status %s, final: %s', (phase, status, isFinal) => {
  expect(statusOfPhase(phase)).toBe(status);
  expect(isFinalPhase(phase)).toBe(isFinal);
});

test('the phases cover all six statuses of the specification', () => {
  expect(new Set(paymentPhases.map(statusOfPhase))).toEqual(new Set(paymentStatuses));
});
