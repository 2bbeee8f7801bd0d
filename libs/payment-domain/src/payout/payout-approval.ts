/**
 * A payout that a second key must approve. Nothing is announced before: of where the money goes only a mask is kept, so
 * nothing could be sent from here. The team repeats its request when it is approved, and that announces the call.
 */
import { events, refuse, type Decision } from '../decision.ts';
import type {
  AskPayoutApproval,
  GrantPayout,
  PayoutRefusal,
  RecordApprovalLapsed,
  RefusePayout,
  RequestPayout,
} from './payout-commands.ts';
import type { PayoutEvent } from './payout-events.ts';
import { doubtCodes, isOpen } from '../review.ts';
import type { Payout } from './payout-state.ts';

type PayoutDecision = Decision<PayoutEvent, PayoutRefusal>;

/** How long a payout waits to be approved, and then to be sent, milliseconds. */
export const approvalLastsMs = 24 * 60 * 60 * 1000;

/** True while nothing of it is announced. */
export const isBeforeAnnouncement = ({ phase }: Pick<Payout, 'phase'>): boolean =>
  phase === 'awaiting_approval' || phase === 'approval_granted';

/** The service shows something under its number that is not booked: nothing more is sent, and nobody is told that nothing was, until a person has looked at it. */
export const isPayoutInReview = ({ reviews }: Pick<Payout, 'reviews'>): boolean =>
  (['second_payout_found', ...doubtCodes] as const).some((code) => isOpen({ reviews }, code));

export function askApproval(ask: AskPayoutApproval): PayoutEvent {
  const { type: _, earlierFingerprints: __, askedAt, ...data } = ask;
  return { type: 'PayoutApprovalRequested', data: { ...data, lapsesAt: askedAt + approvalLastsMs } };
}

/** A further request with the terms of the first: it announces the call of a payout that is approved. */
export function announceApproved(state: Payout, request: RequestPayout): PayoutEvent[] {
  const { type: _, earlierFingerprints: __, requestedAt, ...data } = request;
  // The amount is reserved in one account.
  const isItsAccount = data.call.account === state.call.account;
  if (!isBeforeAnnouncement(state) || !isItsAccount) return [];
  if (hasLapsed(state, requestedAt)) return [lapsed];
  return state.phase === 'approval_granted' ? [{ type: 'PayoutRequested', data }] : [];
}

export function grantPayout(state: Payout, { keyId, at }: GrantPayout): PayoutDecision {
  const { approval } = state;
  if (approval === undefined) return refuse({ code: 'payout_not_awaiting_approval' });
  if (approval.askedBy === keyId) return refuse({ code: 'approval_by_requester' });
  if (approval.grantedBy === keyId && state.phase !== 'failed') return events();
  if (state.phase !== 'awaiting_approval' || hasLapsed(state, at))
    return refuse({ code: 'payout_not_awaiting_approval' });
  if (isPayoutInReview(state)) return refuse({ code: 'payout_in_review' });
  const data = { grantedBy: keyId, lapsesAt: at + approvalLastsMs };
  return events({ type: 'PayoutApprovalGranted', data });
}

/** Also one that is approved and not sent yet. */
export function refusePayout(state: Payout, { keyId, reason, at }: RefusePayout): PayoutDecision {
  const { approval } = state;
  if (approval === undefined) return refuse({ code: 'payout_not_awaiting_approval' });
  if (approval.askedBy === keyId) return refuse({ code: 'approval_by_requester' });
  if (state.failure === 'approval-refused') return events();
  if (!isBeforeAnnouncement(state) || hasLapsed(state, at))
    return refuse({ code: 'payout_not_awaiting_approval' });
  return events(
    { type: 'PayoutApprovalRefused', data: { refusedBy: keyId, reason } },
    { type: 'PayoutFailed', data: { reason: 'approval-refused' } },
  );
}

export const recordApprovalLapsed = (state: Payout, { at }: RecordApprovalLapsed): PayoutEvent[] =>
  isBeforeAnnouncement(state) && hasLapsed(state, at) ? [lapsed] : [];

const lapsed: PayoutEvent = { type: 'PayoutFailed', data: { reason: 'approval-lapsed' } };

/** One in review waits for a person: whoever is told that it has lapsed asks for another one. */
const hasLapsed = (payout: Payout, at: number): boolean =>
  payout.approval !== undefined && at >= payout.approval.lapsesAt && !isPayoutInReview(payout);
