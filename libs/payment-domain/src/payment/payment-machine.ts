/**
 * The lifecycle of a payment: the only definition of which event may follow which. `decide` asks it what is allowed,
 * `evolve` moves through it, and pictures of the lifecycle are drawn from it.
 */
import type { PaymentStatus } from '@tollgate/payment-api/values';
import { setup, transition } from 'xstate';
import { InvariantViolation } from '../invariant.ts';
import type { PaymentEventType } from './payment-events.ts';

export const paymentPhases = [
  'requested',
  'unresolved',
  'init',
  'pending',
  'authorized',
  'capturing',
  'voiding',
  'approved',
  'declined',
  'refunded',
  'expired',
  'failed',
] as const;
export type PaymentPhase = (typeof paymentPhases)[number];

/** An event as the machine sees it: its type, and the one fact about it that decides where it leads. */
export type PaymentMachineEvent =
  | {
      type: Exclude<
        PaymentEventType,
        'PaymentRequested' | 'FinalStatusRevised' | 'RefundApproved' | 'ExternalRefundObserved'
      >;
    }
  | { type: 'RefundApproved' | 'ExternalRefundObserved'; inFull: boolean }
  | { type: 'FinalStatusRevised'; to: 'approved' | 'declined' | 'expired' | 'refunded' };

const outcomes = {
  PaymentApproved: 'approved',
  PaymentDeclined: 'declined',
  PaymentExpired: 'expired',
} as const;

const revisions = {
  FinalStatusRevised: [
    { guard: 'toApproved', target: 'approved' },
    { guard: 'toDeclined', target: 'declined' },
    { guard: 'toExpired', target: 'expired' },
    { guard: 'toRefunded', target: 'refunded' },
  ],
} as const;

// A refund that was on its way when the status was revised still ends, whatever the payment has become.
const refundOutcomes = (stay: 'approved' | 'declined' | 'expired' | 'refunded') =>
  ({
    RefundAccepted: stay,
    RefundApproved: [{ guard: 'inFull', target: 'refunded' }, { target: stay }],
    RefundDeclined: stay,
    RefundUnresolved: stay,
    RefundDeclineReported: stay,
    ExternalRefundObserved: [{ guard: 'inFull', target: 'refunded' }, { target: stay }],
  }) as const;

export const paymentMachine = setup({
  types: { events: {} as PaymentMachineEvent },
  guards: {
    inFull: ({ event }) => 'inFull' in event && event.inFull,
    toApproved: ({ event }) => 'to' in event && event.to === 'approved',
    toDeclined: ({ event }) => 'to' in event && event.to === 'declined',
    toExpired: ({ event }) => 'to' in event && event.to === 'expired',
    toRefunded: ({ event }) => 'to' in event && event.to === 'refunded',
  },
  // A self-transition must differ from "not allowed", which XState answers with silence: an action marks it.
  actions: { note: () => {} },
}).createMachine({
  id: 'payment',
  initial: 'requested',
  on: {
    ReviewOpened: { actions: 'note' },
    ReviewResolved: { actions: 'note' },
    RecurringTokenIssued: { actions: 'note' },
  },
  states: {
    requested: {
      on: {
        AttemptAccepted: 'init',
        AttemptRefused: 'requested',
        AttemptNotSent: 'requested',
        AttemptUnresolved: 'unresolved',
        AttemptStarted: 'requested',
        PaymentFailed: 'failed',
      },
    },
    unresolved: {
      on: {
        AttemptAccepted: 'init',
        // The answer came after all, later than a look had given it up.
        AttemptRefused: 'requested',
        AttemptNotSent: 'requested',
        AttemptNotFound: 'unresolved',
        AttemptStarted: 'requested',
        PaymentFailed: 'failed',
      },
    },
    init: { on: { ...outcomes, PaymentPending: 'pending', PaymentAuthorized: 'authorized' } },
    pending: { on: { ...outcomes, PaymentAuthorized: 'authorized' } },
    authorized: { on: { ...outcomes, CaptureSubmitted: 'capturing', VoidSubmitted: 'voiding' } },
    capturing: {
      on: {
        ...outcomes,
        CaptureSubmitted: 'capturing',
        CaptureUnresolved: 'capturing',
        CaptureRefused: 'authorized',
      },
    },
    voiding: {
      on: {
        ...outcomes,
        VoidSubmitted: 'voiding',
        VoidUnresolved: 'voiding',
        VoidRefused: 'authorized',
      },
    },
    approved: { on: { ...revisions, ...refundOutcomes('approved'), RefundSubmitted: 'approved' } },
    declined: { on: { ...revisions, ...refundOutcomes('declined') } },
    refunded: { on: { ...revisions, ...refundOutcomes('refunded') } },
    expired: { on: { ...revisions, ...refundOutcomes('expired') } },
    failed: { on: { ...revisions } },
  },
});

/** Where an event leads from a phase, or undefined where it is not allowed there. */
export function phaseAfter(phase: PaymentPhase, event: PaymentMachineEvent): PaymentPhase | undefined {
  const key = `${phase} ${event.type} ${factOf(event)}`;
  const known = phasesAfter.get(key);
  if (known !== undefined) return known ?? undefined;
  const snapshot = paymentMachine.resolveState({ value: phase });
  const next = snapshot.can(event) ? transition(paymentMachine, snapshot, event)[0].value : null;
  phasesAfter.set(key, next);
  return next ?? undefined;
}

/** What decides where an event leads, beside its type. */
const factOf = (event: PaymentMachineEvent): string =>
  'inFull' in event ? String(event.inFull) : 'to' in event ? event.to : '';

// Pure memory: a transition costs tens of microseconds, there are a few hundred of them, and folds take millions.
const phasesAfter = new Map<string, PaymentPhase | null>();

/** As {@link phaseAfter}. @throws InvariantViolation where the event is not allowed. */
export function requirePhaseAfter(phase: PaymentPhase, event: PaymentMachineEvent): PaymentPhase {
  const next = phaseAfter(phase, event);
  if (next === undefined) throw new InvariantViolation(`${event.type} is not allowed in phase ${phase}`);
  return next;
}

const statusByPhase: Record<PaymentPhase, PaymentStatus> = {
  requested: 'init',
  unresolved: 'init',
  init: 'init',
  pending: 'pending',
  authorized: 'pending',
  capturing: 'pending',
  voiding: 'pending',
  approved: 'approved',
  declined: 'declined',
  refunded: 'refunded',
  expired: 'expired',
  failed: 'declined',
};

/** The status of the specification (section 3) that a phase shows. */
export const statusOfPhase = (phase: PaymentPhase): PaymentStatus => statusByPhase[phase];

/** True where nothing more is expected to happen by itself. */
export const isFinalPhase = (phase: PaymentPhase): boolean =>
  ['approved', 'declined', 'refunded', 'expired', 'failed'].includes(phase);
