/**
 * The lifecycle of a payout: the only definition of which event may follow which. There is one call, so there is no way
 * back to `requested` from anywhere.
 */
import { setup, transition } from 'xstate';
import { InvariantViolation } from '../invariant.ts';
import type { PayoutEventType, PayoutStatus } from './payout-events.ts';

export const payoutPhases = ['requested', 'unresolved', 'pending', 'approved', 'declined', 'failed'] as const;
export type PayoutPhase = (typeof payoutPhases)[number];

/** An event as the machine sees it: its type, and the one fact about it that decides where it leads. */
export type PayoutMachineEvent =
  | { type: Exclude<PayoutEventType, 'PayoutRequested' | 'FinalStatusRevised'> }
  | { type: 'FinalStatusRevised'; to: PayoutStatus };

export const payoutMachine = setup({
  types: { events: {} as PayoutMachineEvent },
  guards: {
    toApproved: ({ event }) => 'to' in event && event.to === 'approved',
    toDeclined: ({ event }) => 'to' in event && event.to === 'declined',
    toPending: ({ event }) => 'to' in event && event.to === 'pending',
  },
  // A self-transition must differ from "not allowed", which XState answers with silence: an action marks it.
  actions: { note: () => {} },
}).createMachine({
  id: 'payout',
  initial: 'requested',
  on: { ReviewOpened: { actions: 'note' }, ReviewResolved: { actions: 'note' } },
  states: {
    requested: {
      on: {
        PayoutAccepted: 'pending',
        PayoutRefused: { actions: 'note' },
        PayoutNotSent: { actions: 'note' },
        PayoutUnresolved: 'unresolved',
        PayoutFailed: 'failed',
      },
    },
    unresolved: {
      on: {
        PayoutAccepted: 'pending',
        // The answer came after all, later than a look had given it up.
        PayoutRefused: { actions: 'note' },
        PayoutNotSent: { actions: 'note' },
        PayoutFailed: 'failed',
      },
    },
    pending: { on: { PayoutApproved: 'approved', PayoutDeclined: 'declined' } },
    approved: { on: { FinalStatusRevised: { guard: 'toDeclined', target: 'declined' } } },
    declined: {
      on: {
        FinalStatusRevised: [
          { guard: 'toApproved', target: 'approved' },
          // What a person said was undone turned up at the service.
          { guard: 'toPending', target: 'pending' },
        ],
      },
    },
    failed: {
      on: {
        FinalStatusRevised: [
          { guard: 'toApproved', target: 'approved' },
          { guard: 'toPending', target: 'pending' },
        ],
      },
    },
  },
});

/** Where an event leads from a phase, or undefined where it is not allowed there. */
export function payoutPhaseAfter(phase: PayoutPhase, event: PayoutMachineEvent): PayoutPhase | undefined {
  const key = `${phase} ${JSON.stringify(event)}`;
  const known = phasesAfter.get(key);
  if (known !== undefined) return known ?? undefined;
  const snapshot = payoutMachine.resolveState({ value: phase });
  const next = snapshot.can(event) ? transition(payoutMachine, snapshot, event)[0].value : null;
  phasesAfter.set(key, next);
  return next ?? undefined;
}

// Pure memory: a transition costs tens of microseconds, there are under a hundred of them, and folds take millions.
const phasesAfter = new Map<string, PayoutPhase | null>();

/** As {@link payoutPhaseAfter}. @throws InvariantViolation where the event is not allowed. */
export function requirePayoutPhaseAfter(phase: PayoutPhase, event: PayoutMachineEvent): PayoutPhase {
  const next = payoutPhaseAfter(phase, event);
  if (next === undefined) throw new InvariantViolation(`${event.type} is not allowed in phase ${phase}`);
  return next;
}

const statusByPhase: Record<PayoutPhase, PayoutStatus> = {
  requested: 'pending',
  unresolved: 'pending',
  pending: 'pending',
  approved: 'approved',
  declined: 'declined',
  failed: 'declined',
};

/** The status that a phase shows. */
export const statusOfPayoutPhase = (phase: PayoutPhase): PayoutStatus => statusByPhase[phase];

/** True where nothing more is expected to happen by itself. */
export const isFinalPayoutPhase = (phase: PayoutPhase): boolean => statusByPhase[phase] !== 'pending';
