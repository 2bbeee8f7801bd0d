/** What a payout is, folded from its events. */
import type { ApiError } from '@tollgate/payment-api/values';
import { afterOpened, afterResolved, isOpen, noReviews, type Reviewable } from '../review.ts';
import type { CallWindow } from '../call-window.ts';
import { InvariantViolation, unreachable } from '../invariant.ts';
import type { InquiryNeed } from '../payment/inquiry-need.ts';
import type { Environment } from '../payment/payment-events.ts';
import type {
  PayoutReviewCode,
  PayoutCall,
  PayoutEvent,
  PayoutEventOf,
  PayoutFailure,
  PayoutTerms,
} from './payout-events.ts';
import {
  isFinalPayoutPhase,
  requirePayoutPhaseAfter,
  type PayoutMachineEvent,
  type PayoutPhase,
} from './payout-machine.ts';

export interface Payout extends Reviewable<PayoutReviewCode> {
  environment: Environment;
  team: string;
  terms: PayoutTerms;
  fingerprint: string;
  phase: PayoutPhase;
  call: PayoutCall;
  /** The service's token, once it is known to have the payout; never there while it has failed. */
  serviceToken?: string;
  declineReason?: string;
  /** Why nothing was paid out, while it has failed. */
  failure?: PayoutFailure;
  /** What the service refused it for. */
  errors: readonly ApiError[];
}

/** Why a payout is declined of which a person said that the service had undone it. */
export const resolvedByAPerson = 'resolved_by_a_person';

/** A payout that has not been requested yet. */
export const noPayout = undefined;
export type PayoutState = Payout | typeof noPayout;

/**
 * The state after an event.
 *
 * @throws InvariantViolation where the machine does not allow the event: the stream is damaged, or the code is.
 */
export function evolvePayout(state: PayoutState, event: PayoutEvent): Payout {
  if (state === undefined) return begin(event);
  if (event.type === 'PayoutRequested') throw new InvariantViolation('PayoutRequested came a second time');
  return { ...apply(state, event), phase: requirePayoutPhaseAfter(state.phase, toPayoutMachineEvent(event)) };
}

function begin(event: PayoutEvent): Payout {
  if (event.type !== 'PayoutRequested')
    throw new InvariantViolation(`${event.type} came before PayoutRequested`);
  return { ...event.data, phase: 'requested', errors: [], ...noReviews };
}

type LaterEvent = Exclude<PayoutEvent, { type: 'PayoutRequested' }>;

/** The event as the machine sees it. */
export const toPayoutMachineEvent = (event: LaterEvent): PayoutMachineEvent =>
  event.type === 'FinalStatusRevised' ? { type: event.type, to: event.data.to } : { type: event.type };

function apply(state: Payout, event: LaterEvent): Payout {
  switch (event.type) {
    case 'PayoutAccepted':
      return { ...state, serviceToken: event.data.serviceToken };
    case 'PayoutRefused':
      return { ...state, errors: event.data.errors };
    case 'PayoutDeclined':
      return { ...state, ...reasonIn(event.data) };
    case 'PayoutFailed':
      return { ...state, failure: event.data.reason };
    case 'FinalStatusRevised':
      return revise(state, event);
    case 'ReviewOpened':
      return { ...state, ...afterOpened(state, event.data) };
    case 'ReviewResolved':
      return { ...state, ...afterResolved(state, event.data) };
    case 'PayoutNotSent':
    case 'PayoutUnresolved':
    case 'PayoutApproved':
      return state;
    default:
      return unreachable(event);
  }
}

const reasonIn = (data: { declineReason?: string | undefined }) =>
  data.declineReason === undefined ? {} : { declineReason: data.declineReason };

function revise(state: Payout, { data }: PayoutEventOf<'FinalStatusRevised'>): Payout {
  const token = data.serviceToken === undefined ? {} : { serviceToken: data.serviceToken };
  // The reasons of the status that no longer holds go with it.
  const { declineReason: _reason, failure: _failure, ...rest } = state;
  return { ...rest, ...reasonIn(data), ...token, errors: [] };
}

/** True while nobody knows what became of the call. */
export const isPayoutAwaited = ({ phase }: Payout): boolean =>
  phase === 'requested' || phase === 'unresolved';

/** What is still to be found out about a payout; undefined where nothing is. */
export function inquiryNeedOfPayout(payout: Payout): InquiryNeed | undefined {
  if (isPayoutAwaited(payout)) return 'unresolved';
  return !isFinalPayoutPhase(payout.phase) || isOpen(payout, 'callback_not_applied') ? 'open' : undefined;
}

export interface AnnouncedPayoutCall {
  operation: 'payout';
  account: string;
  window: CallWindow;
  providerOrderNumber: string;
}

/**
 * The call that just appended events announce, or undefined where they announce none.
 *
 * @param payout as it stands after the events
 */
export function payoutCallAnnouncedBy(
  events: readonly PayoutEvent[],
  { call }: Payout,
): AnnouncedPayoutCall | undefined {
  if (!events.some(({ type }) => type === 'PayoutRequested')) return undefined;
  const { account, providerOrderNumber, sendBy, answerBy, quietUntil } = call;
  return { operation: 'payout', account, window: { sendBy, answerBy, quietUntil }, providerOrderNumber };
}
