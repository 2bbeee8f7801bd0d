/**
 * The lifecycle of a payment: the only definition of which event may follow which. `decide` asks it which events are allowed,
 * `evolve` moves through it, and the diagrams are drawn from it.
 *
 * Each outbound call is a nested state: `announced` (may be sent, or is under way) or `unresolved` (sent, outcome unknown).
 * Refunds are a parallel region, one at a time.
 */
import type { PaymentStatus } from '../money.ts';
import { setup, stateIn } from 'xstate';
import { createMachineWalk } from '../machine-walk.ts';
import type { PaymentEventType } from './payment-events.ts';

/** The first phase: announced by us, or adopted in the provider's status. */
export type BeginningType = 'PaymentRequested' | 'PaymentAdopted';

/** An event as the machine sees it: its type, and the one fact that decides the next state. */
export type PaymentMachineEvent =
  | {
      type: Exclude<
        PaymentEventType,
        BeginningType | 'FinalStatusRevised' | 'RefundApproved' | 'ExternalRefundObserved'
      >;
    }
  | { type: 'RefundApproved' | 'ExternalRefundObserved'; inFull: boolean }
  | { type: 'FinalStatusRevised'; to: 'approved' | 'declined' | 'expired' | 'refunded' };

// XState ignores an event that is not allowed. An action marks a self-transition, to distinguish the two.
const stay = { actions: 'note' } as const;

const outcomes = {
  PaymentApproved: 'approved',
  PaymentDeclined: 'declined',
  PaymentExpired: 'expired',
} as const;

/** A final status may be revised; a refund in flight still ends. */
const final = {
  on: {
    FinalStatusRevised: [
      { guard: 'toApproved', target: 'approved' },
      { guard: 'toDeclined', target: 'declined' },
      { guard: 'toExpired', target: 'expired' },
      { guard: 'toRefunded', target: 'refunded' },
    ],
    RefundApproved: { guard: 'inFull', target: 'refunded' },
    ExternalRefundObserved: [{ guard: 'inFull', target: 'refunded' }, stay],
  },
} as const;

const refundEnds = { RefundApproved: 'idle', RefundDeclined: 'idle' } as const;

export const paymentMachine = setup({
  types: { events: {} as PaymentMachineEvent },
  guards: {
    inFull: ({ event }) => 'inFull' in event && event.inFull,
    toApproved: ({ event }) => 'to' in event && event.to === 'approved',
    toDeclined: ({ event }) => 'to' in event && event.to === 'declined',
    toExpired: ({ event }) => 'to' in event && event.to === 'expired',
    toRefunded: ({ event }) => 'to' in event && event.to === 'refunded',
  },
  actions: { note: () => {} },
}).createMachine({
  id: 'payment',
  type: 'parallel',
  on: {
    ReviewOpened: stay,
    ReviewResolutionProposed: stay,
    ReviewResolved: stay,
    CallbackDeferred: stay,
    CallbackInquired: stay,
    RecurringTokenIssued: stay,
    AdoptionDeclaredPayable: stay,
    DisputeOpened: stay,
    DisputeChanged: stay,
    DisputeWon: stay,
    DisputeLost: stay,
  },
  states: {
    lifecycle: {
      initial: 'creating',
      states: {
        creating: {
          initial: 'announced',
          states: {
            announced: { on: { AttemptUnresolved: 'unresolved' } },
            unresolved: { on: { AttemptNotFound: stay } },
          },
          on: {
            AttemptAccepted: 'init',
            // Even after an inquiry has abandoned the answer: it arrived after all.
            AttemptRefused: '.announced',
            AttemptNotSent: '.announced',
            AttemptStarted: '.announced',
            PaymentFailed: 'failed',
          },
        },
        init: { on: { ...outcomes, PaymentPending: 'pending', PaymentAuthorized: 'authorized' } },
        pending: { on: { ...outcomes, PaymentAuthorized: 'authorized' } },
        authorized: {
          // Voided even after a refusal: an earlier submission may have taken effect.
          on: {
            ...outcomes,
            PaymentVoided: 'voided',
            CaptureSubmitted: 'capturing',
            VoidSubmitted: 'voiding',
          },
        },
        capturing: {
          initial: 'announced',
          states: { announced: { on: { CaptureUnresolved: 'unresolved' } }, unresolved: {} },
          on: { ...outcomes, CaptureSubmitted: '.announced', CaptureRefused: 'authorized' },
        },
        voiding: {
          initial: 'announced',
          states: { announced: { on: { VoidUnresolved: 'unresolved' } }, unresolved: {} },
          on: {
            ...outcomes,
            PaymentVoided: 'voided',
            VoidSubmitted: '.announced',
            VoidRefused: 'authorized',
          },
        },
        approved: final,
        declined: final,
        voided: final,
        refunded: final,
        expired: final,
        failed: { on: { FinalStatusRevised: final.on.FinalStatusRevised } },
      },
    },
    refund: {
      initial: 'idle',
      states: {
        idle: { on: { RefundSubmitted: { guard: stateIn({ lifecycle: 'approved' }), target: 'announced' } } },
        announced: { on: { ...refundEnds, RefundAccepted: 'accepted', RefundUnresolved: 'unresolved' } },
        unresolved: { on: { ...refundEnds, RefundAccepted: 'accepted' } },
        accepted: { on: refundEnds },
      },
    },
  },
});

/** The phase of the whole payment, as callers see it. */
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
  'voided',
  'refunded',
  'expired',
  'failed',
] as const;
export type PaymentPhase = (typeof paymentPhases)[number];

type InFlight = 'announced' | 'unresolved';
type CallPhase = 'requested' | 'unresolved' | 'capturing' | 'voiding';

export type PaymentMachineState = {
  lifecycle: Exclude<PaymentPhase, CallPhase> | `${'creating' | 'capturing' | 'voiding'}.${InFlight}`;
  refund: 'idle' | InFlight | 'accepted';
};

export const paymentWalk = createMachineWalk<PaymentMachineState, PaymentMachineEvent>(paymentMachine);

export function phaseOf({ lifecycle }: PaymentMachineState): PaymentPhase {
  switch (lifecycle) {
    case 'creating.announced':
      return 'requested';
    case 'creating.unresolved':
      return 'unresolved';
    case 'capturing.announced':
    case 'capturing.unresolved':
      return 'capturing';
    case 'voiding.announced':
    case 'voiding.unresolved':
      return 'voiding';
    default:
      return lifecycle;
  }
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
  voided: 'declined',
  refunded: 'refunded',
  expired: 'expired',
  failed: 'declined',
};

/** The status (specification, section 3) of a phase. */
export const statusOfPhase = (phase: PaymentPhase): PaymentStatus => statusByPhase[phase];

/** True if no further change is expected. */
export const isFinalPhase = (phase: PaymentPhase): boolean =>
  phase === 'failed' || !['init', 'pending'].includes(statusByPhase[phase]);
