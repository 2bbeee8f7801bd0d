/** The state of a payout, folded from its events. */
import { apiErrorSchema } from '../money.ts';
import { z } from 'zod';
import type { InquiryNeed } from '../failed-inquiry.ts';
import { InvariantViolation, unreachable } from '../invariant.ts';
import { windowOf, type CallWindow } from '../outbound-call/outbound-call.ts';
import {
  afterDeferred,
  afterInquired,
  deferredCallbacksShape,
  latestDeferredAt,
  noDeferredCallbacks,
} from '../deferred-callback.ts';
import { inOrder } from '../decision.ts';
import { worstCaseOf, type Side } from '../discrepancy.ts';
import { afterOpened, afterProposed, afterResolved, noReviews, reviewableShape } from '../review.ts';
import { environmentSchema, omitUndefined } from '../values.ts';
import {
  payoutCallSchema,
  payoutFailureSchema,
  payoutReviewCodeSchema,
  payoutTermsSchema,
  type PayoutEvent,
  type PayoutEventOf,
} from './payout-events.ts';
import {
  isFinalPayoutPhase,
  statusOfPayoutPhase,
  payoutPhases,
  payoutPhaseOf,
  payoutStateOf,
  payoutWalk,
  type PayoutMachineEvent,
} from './payout-machine.ts';

/** A stored payout. Views drop everything that is not a field here. */
export const payoutSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  /** Source wallet, whatever wallet the team has now. */
  wallet: z.string(),
  askedBy: z.string(),
  terms: payoutTermsSchema,
  fingerprint: z.string(),
  phase: z.enum(payoutPhases),
  /** All times are 0 before the announcement. */
  call: payoutCallSchema,
  /** Set if a second key must approve it. */
  approval: z
    .object({
      grantedBy: z.string().exactOptional(),
      /** Deadline of the approval, and then of the sending. */
      lapsesAt: z.int(),
    })
    .exactOptional(),
  /** The provider's token, once the provider is known to have the payout; absent while it has failed. */
  serviceToken: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
  /** Why nothing was paid out, while it has failed. */
  failure: payoutFailureSchema.exactOptional(),
  /** Errors of the provider's refusal, confirmed or not. */
  errors: z.array(apiErrorSchema).readonly(),
  ...deferredCallbacksShape,
  ...reviewableShape(payoutReviewCodeSchema),
});
export type Payout = z.infer<typeof payoutSchema>;

/** Undefined before the request. */
export type PayoutState = Payout | undefined;

/**
 * The state after an event.
 *
 * @throws InvariantViolation if the machine does not allow the event: the stream or the code is broken
 */
export function evolvePayout(state: PayoutState, event: PayoutEvent): Payout {
  if (state === undefined) return begin(event);
  if (event.type === 'PayoutApprovalRequested')
    throw new InvariantViolation('PayoutApprovalRequested occurred after the first event');
  const next = payoutWalk.require(payoutStateOf(state.phase), toPayoutMachineEvent(event));
  return { ...apply(state, event), phase: payoutPhaseOf(next) };
}

function begin(event: PayoutEvent): Payout {
  const nothingYet = { errors: [], ...noDeferredCallbacks, ...noReviews };
  switch (event.type) {
    case 'PayoutRequested':
      return { ...event.data, phase: 'requested', ...nothingYet };
    case 'PayoutApprovalRequested': {
      const { account, providerOrderNumber, lapsesAt, ...request } = event.data;
      const call = { account, providerOrderNumber, sendBy: 0, answerBy: 0, quietUntil: 0 };
      return {
        ...request,
        call,
        approval: { lapsesAt },
        phase: 'awaiting_approval',
        ...nothingYet,
      };
    }
    default:
      throw new InvariantViolation(`${event.type} occurred before the first event`);
  }
}

type LaterEvent = Exclude<PayoutEvent, { type: 'PayoutApprovalRequested' }>;

export const toPayoutMachineEvent = (event: LaterEvent): PayoutMachineEvent =>
  event.type === 'FinalStatusRevised' ? { type: event.type, to: event.data.to } : { type: event.type };

function apply(state: Payout, event: LaterEvent): Payout {
  switch (event.type) {
    case 'PayoutRequested':
      return { ...state, call: event.data.call };
    case 'PayoutApprovalGranted':
      return { ...state, approval: { ...requireApproval(state), ...event.data } };
    case 'PayoutAccepted':
      return { ...state, serviceToken: event.data.serviceToken, errors: [] };
    case 'PayoutRefused':
    case 'PayoutUnresolved':
      return { ...state, errors: event.data.errors ?? [] };
    case 'PayoutDeclined':
      return { ...state, ...omitUndefined({ declineReason: event.data.declineReason }) };
    case 'PayoutFailed':
      return { ...state, failure: event.data.reason };
    case 'FinalStatusRevised':
      return revise(state, event);
    case 'CallbackDeferred':
      return { ...state, ...afterDeferred(state, event.data) };
    case 'CallbackInquired':
      return { ...state, ...afterInquired(state, event.data) };
    case 'ReviewOpened':
      return { ...state, ...afterOpened(state, event.data) };
    case 'ReviewResolutionProposed':
      return { ...state, ...afterProposed(state, event.data) };
    case 'ReviewResolved':
      return closeReview(state, event);
    case 'PayoutApprovalRefused':
    case 'PayoutNotSent':
    case 'PayoutApproved':
      return state;
    default:
      return unreachable(event);
  }
}

/** The provider's amount that a person accepted applies from now on. */
function closeReview(state: Payout, { data }: PayoutEventOf<'ReviewResolved'>): Payout {
  const about = state.discrepancies.find(({ number }) => number === data.number);
  const amount = data.resolution === 'accept_theirs' && about?.theirs?.amount;
  return {
    ...state,
    ...afterResolved(state, data),
    ...(typeof amount === 'number' && { terms: { ...state.terms, amount } }),
  };
}

function requireApproval({ approval }: Payout) {
  if (approval === undefined) throw new InvariantViolation('a payout that awaits no approval was approved');
  return approval;
}

function revise(state: Payout, { data }: PayoutEventOf<'FinalStatusRevised'>): Payout {
  const { declineReason, serviceToken } = data;
  // The reasons of a superseded status are dropped.
  const { declineReason: _reason, failure: _failure, ...rest } = state;
  return { ...rest, ...omitUndefined({ declineReason, serviceToken }), errors: [] };
}

export const isPayoutAwaited = ({ phase }: Payout): boolean =>
  phase === 'requested' || phase === 'unresolved';

export function inquiryNeedOfPayout(payout: Payout): InquiryNeed {
  if (isPayoutAwaited(payout) || payout.deferredCallbacks.length > 0) return 'unresolved';
  return isFinalPayoutPhase(payout.phase) ? 'settled' : 'open';
}

/** When the outcome could have been known, milliseconds since the Unix epoch. */
export const payoutQuietUntil = (payout: Payout): number =>
  Math.max(payout.call.quietUntil, latestDeferredAt(payout));

/** True before the announcement. */
export const isBeforeAnnouncement = ({ phase }: Pick<Payout, 'phase'>): boolean =>
  phase === 'awaiting_approval' || phase === 'approval_granted';

/** True if it may no longer be approved, or sent. */
export const isApprovalOver = ({ approval }: Pick<Payout, 'approval'>, at: number): boolean =>
  approval !== undefined && at >= approval.lapsesAt;

/** Applies steps in order, each to the payout after the previous one. */
export const inPayoutSteps = (
  payout: Payout,
  ...steps: ((payout: Payout) => readonly PayoutEvent[])[]
): PayoutEvent[] => inOrder<Payout, PayoutEvent>(payout, evolvePayout, steps);

export const ourPayoutSide = ({ phase, terms, call }: Payout): Side => ({
  status: statusOfPayoutPhase(phase),
  amount: terms.amount,
  currency: terms.currency,
  refundedAmount: null,
  authorizedAmount: null,
  orderNumber: call.providerOrderNumber,
});

/** Minor units that may have been paid out beyond our record: the worst cases of its discrepancies. */
export function reservedByPayoutDiscrepancies(payout: Payout): number {
  const ours = ourPayoutSide(payout);
  const isOurCurrency = (theirs: Side | null) => theirs?.currency === ours.currency;
  return payout.discrepancies
    .filter(({ state, theirs }) => state !== 'released' && isOurCurrency(theirs))
    .map(({ serviceToken, theirs }) => ({ theirs, ours: serviceToken === payout.serviceToken ? ours : null }))
    .reduce((sum, sides) => sum + worstCaseOf({ operation: 'payout', ...sides }), 0);
}

export interface AnnouncedPayoutCall {
  operation: 'payout';
  account: string;
  window: CallWindow;
  providerOrderNumber: string;
}

/**
 * The call that just appended events announce, or undefined if they announce none.
 *
 * @param payout after the events
 */
export function payoutCallAnnouncedBy(
  events: readonly PayoutEvent[],
  { call }: Payout,
): AnnouncedPayoutCall | undefined {
  if (!events.some(({ type }) => type === 'PayoutRequested')) return undefined;
  const { account, providerOrderNumber } = call;
  return { operation: 'payout', account, window: windowOf(call), providerOrderNumber };
}
