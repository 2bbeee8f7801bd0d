import { paymentStatuses } from '@tollgate/payment-api/values';
import { describe, expect, test } from 'vitest';
import { InvariantViolation } from '../invariant.ts';
import { paymentEventSchemas } from './payment-events.ts';
import {
  isFinalPhase,
  paymentMachine,
  paymentPhases,
  phaseAfter,
  requirePhaseAfter,
  statusOfPhase,
  type PaymentMachineEvent,
  type PaymentPhase,
} from './payment-machine.ts';

/** The machine's events by name, with the fact that decides where they lead behind a colon. */
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
  RefundDeclineReported: { type: 'RefundDeclineReported' },
  'ExternalRefundObserved:in part': { type: 'ExternalRefundObserved', inFull: false },
  'ExternalRefundObserved:in full': { type: 'ExternalRefundObserved', inFull: true },
  'FinalStatusRevised:approved': { type: 'FinalStatusRevised', to: 'approved' },
  'FinalStatusRevised:declined': { type: 'FinalStatusRevised', to: 'declined' },
  'FinalStatusRevised:expired': { type: 'FinalStatusRevised', to: 'expired' },
  'FinalStatusRevised:refunded': { type: 'FinalStatusRevised', to: 'refunded' },
  RecurringTokenIssued: { type: 'RecurringTokenIssued' },
  ReviewOpened: { type: 'ReviewOpened' },
  ReviewResolved: { type: 'ReviewResolved' },
};

type Row = Record<string, PaymentPhase>;

const outcomes: Row = { PaymentApproved: 'approved', PaymentDeclined: 'declined', PaymentExpired: 'expired' };
const revisions: Row = {
  'FinalStatusRevised:approved': 'approved',
  'FinalStatusRevised:declined': 'declined',
  'FinalStatusRevised:expired': 'expired',
  'FinalStatusRevised:refunded': 'refunded',
};
const refundOutcomes = (phase: PaymentPhase): Row => ({
  RefundAccepted: phase,
  'RefundApproved:in part': phase,
  'RefundApproved:in full': 'refunded',
  RefundDeclined: phase,
  RefundUnresolved: phase,
  RefundDeclineReported: phase,
  'ExternalRefundObserved:in part': phase,
  'ExternalRefundObserved:in full': 'refunded',
});

/** The lifecycle. What is not in a row is not allowed in that phase; attention and a recurring token are allowed in every one. */
const lifecycle: Record<PaymentPhase, Row> = {
  requested: {
    AttemptAccepted: 'init',
    AttemptRefused: 'requested',
    AttemptNotSent: 'requested',
    AttemptUnresolved: 'unresolved',
    AttemptStarted: 'requested',
    PaymentFailed: 'failed',
  },
  unresolved: {
    AttemptAccepted: 'init',
    AttemptRefused: 'requested',
    AttemptNotSent: 'requested',
    AttemptNotFound: 'unresolved',
    AttemptStarted: 'requested',
    PaymentFailed: 'failed',
  },
  init: { ...outcomes, PaymentPending: 'pending', PaymentAuthorized: 'authorized' },
  pending: { ...outcomes, PaymentAuthorized: 'authorized' },
  authorized: { ...outcomes, CaptureSubmitted: 'capturing', VoidSubmitted: 'voiding' },
  capturing: {
    ...outcomes,
    CaptureSubmitted: 'capturing',
    CaptureRefused: 'authorized',
    CaptureUnresolved: 'capturing',
  },
  voiding: {
    ...outcomes,
    VoidSubmitted: 'voiding',
    VoidRefused: 'authorized',
    VoidUnresolved: 'voiding',
  },
  approved: { ...revisions, ...refundOutcomes('approved'), RefundSubmitted: 'approved' },
  declined: { ...revisions, ...refundOutcomes('declined') },
  refunded: { ...revisions, ...refundOutcomes('refunded') },
  expired: { ...revisions, ...refundOutcomes('expired') },
  failed: revisions,
};

const expectedAfter = (phase: PaymentPhase, name: string): PaymentPhase | undefined =>
  name.startsWith('Review') || name === 'RecurringTokenIssued' ? phase : lifecycle[phase][name];

const cells = paymentPhases.flatMap((phase) =>
  Object.entries(machineEvents).map(([name, event]) => ({
    phase,
    name,
    event,
    next: expectedAfter(phase, name),
  })),
);

test('the table knows every event type but PaymentRequested, which begins a payment', () => {
  const names = new Set(Object.values(machineEvents).map(({ type }) => type));
  expect([...names, 'PaymentRequested'].sort()).toEqual(Object.keys(paymentEventSchemas).sort());
});

test('the machine has the phases of the table and no other', () => {
  expect(Object.keys(paymentMachine.states).sort()).toEqual([...paymentPhases].sort());
  expect(Object.keys(lifecycle).sort()).toEqual([...paymentPhases].sort());
});

describe.each(paymentPhases)('in phase %s', (phase) => {
  const row = cells.filter((cell) => cell.phase === phase);

  test.each(row.filter(({ next }) => next !== undefined))('$name leads to $next', ({ event, next }) => {
    expect(phaseAfter(phase, event)).toBe(next);
    expect(requirePhaseAfter(phase, event)).toBe(next);
  });

  test.each(row.filter(({ next }) => next === undefined))('$name is not allowed', ({ event }) => {
    expect(phaseAfter(phase, event)).toBeUndefined();
    expect(() => requirePhaseAfter(phase, event)).toThrow(InvariantViolation);
  });
});

test('an answer from memory is the same as the first one', () => {
  for (const { phase, event, next } of [...cells, ...cells]) expect(phaseAfter(phase, event)).toBe(next);
});

test('a payment begins as requested, and every phase can be reached from there', () => {
  const reached = new Set<PaymentPhase>([paymentMachine.config.initial as PaymentPhase]);
  // A set that grows while it is walked through is walked through to its end.
  for (const phase of reached)
    for (const event of Object.values(machineEvents)) reached.add(phaseAfter(phase, event) ?? phase);
  expect([...reached][0]).toBe('requested');
  expect([...reached].sort()).toEqual([...paymentPhases].sort());
});

test('no event leads back from a final phase to one that is not', () => {
  const wayBack = cells.filter(
    ({ phase, next }) => isFinalPhase(phase) && next !== undefined && !isFinalPhase(next),
  );
  expect(wayBack).toEqual([]);
});

test('a final status is changed by a revision or a refund only', () => {
  const changes = cells.filter(
    ({ phase, next }) =>
      isFinalPhase(phase) && next !== undefined && statusOfPhase(next) !== statusOfPhase(phase),
  );
  expect([...new Set(changes.map(({ event }) => event.type))].sort()).toEqual([
    'ExternalRefundObserved',
    'FinalStatusRevised',
    'RefundApproved',
  ]);
});

test('no event takes a payment back to requested but the end of an attempt, and a further one', () => {
  const ways = cells.filter(({ phase, next }) => next === 'requested' && phase !== 'requested');
  expect(ways.map(({ phase, name }) => `${phase} ${name}`)).toEqual([
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
  ['refunded', 'refunded', true],
  ['expired', 'expired', true],
  ['failed', 'declined', true],
] as const)('phase %s shows status %s, final: %s', (phase, status, isFinal) => {
  expect(statusOfPhase(phase)).toBe(status);
  expect(isFinalPhase(phase)).toBe(isFinal);
});

test('the phases show all six states of the specification', () => {
  expect(new Set(paymentPhases.map(statusOfPhase))).toEqual(new Set(paymentStatuses));
});
