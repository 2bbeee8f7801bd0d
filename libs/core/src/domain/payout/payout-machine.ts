/**
 * The lifecycle of a payout: the only definition of which event may follow which. It has one outbound call, so nothing
 * leads back to `paying`. It begins there, or with the approval of a second key.
 */
import { setup } from 'xstate';
import { createMachineWalk } from '../machine-walk.ts';
import type { PayoutEventType, PayoutStatus } from './payout-events.ts';

/** An event as the machine sees it: its type, and the one fact that decides the next state. */
export type PayoutMachineEvent =
  | { type: Exclude<PayoutEventType, 'PayoutApprovalRequested' | 'FinalStatusRevised'> }
  | { type: 'FinalStatusRevised'; to: PayoutStatus };

// XState ignores an event that is not allowed. An action marks a self-transition, to distinguish the two.
const stay = { actions: 'note' } as const;
const toApproved = { guard: 'toApproved', target: 'approved' } as const;
const toPending = { guard: 'toPending', target: 'pending' } as const;

export const payoutMachine = setup({
  types: { events: {} as PayoutMachineEvent },
  guards: {
    toApproved: ({ event }) => 'to' in event && event.to === 'approved',
    toDeclined: ({ event }) => 'to' in event && event.to === 'declined',
    toPending: ({ event }) => 'to' in event && event.to === 'pending',
  },
  actions: { note: () => {} },
}).createMachine({
  id: 'payout',
  initial: 'paying',
  on: {
    ReviewOpened: stay,
    ReviewResolutionProposed: stay,
    ReviewResolved: stay,
    CallbackDeferred: stay,
    CallbackInquired: stay,
  },
  states: {
    awaiting_approval: {
      on: {
        PayoutApprovalGranted: 'approval_granted',
        PayoutApprovalRefused: stay,
        PayoutFailed: 'failed',
      },
    },
    approval_granted: {
      on: {
        PayoutRequested: 'paying',
        PayoutApprovalRefused: stay,
        PayoutFailed: 'failed',
      },
    },
    paying: {
      initial: 'announced',
      states: { announced: { on: { PayoutUnresolved: 'unresolved' } }, unresolved: {} },
      on: { PayoutAccepted: 'pending', PayoutRefused: stay, PayoutNotSent: stay, PayoutFailed: 'failed' },
    },
    pending: { on: { PayoutApproved: 'approved', PayoutDeclined: 'declined' } },
    approved: { on: { FinalStatusRevised: { guard: 'toDeclined', target: 'declined' } } },
    // Pending if a failed payout, or one that a person resolved as undone, is found at the provider, or is under way there
    // again.
    declined: { on: { FinalStatusRevised: [toApproved, toPending] } },
    failed: { on: { FinalStatusRevised: [toApproved, toPending] } },
  },
});

export const payoutPhases = [
  'awaiting_approval',
  'approval_granted',
  'requested',
  'unresolved',
  'pending',
  'approved',
  'declined',
  'failed',
] as const;
export type PayoutPhase = (typeof payoutPhases)[number];

export type PayoutMachineState = {
  lifecycle: Exclude<PayoutPhase, 'requested' | 'unresolved'> | 'paying.announced' | 'paying.unresolved';
};

export const payoutWalk = createMachineWalk<PayoutMachineState, PayoutMachineEvent>(payoutMachine);

export function payoutStateOf(phase: PayoutPhase): PayoutMachineState {
  if (phase === 'requested') return { lifecycle: 'paying.announced' };
  return { lifecycle: phase === 'unresolved' ? 'paying.unresolved' : phase };
}

export function payoutPhaseOf({ lifecycle }: PayoutMachineState): PayoutPhase {
  if (lifecycle === 'paying.announced') return 'requested';
  return lifecycle === 'paying.unresolved' ? 'unresolved' : lifecycle;
}

const statusByPhase: Record<PayoutPhase, PayoutStatus> = {
  awaiting_approval: 'pending',
  approval_granted: 'pending',
  requested: 'pending',
  unresolved: 'pending',
  pending: 'pending',
  approved: 'approved',
  declined: 'declined',
  failed: 'declined',
};

/** The status of a phase. */
export const statusOfPayoutPhase = (phase: PayoutPhase): PayoutStatus => statusByPhase[phase];

/** True if no further change is expected. */
export const isFinalPayoutPhase = (phase: PayoutPhase): boolean => statusByPhase[phase] !== 'pending';
