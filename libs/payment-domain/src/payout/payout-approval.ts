/**
 * A payout that a second key must approve. Nothing is announced before: of where the money goes only a mask is kept, so
 * nothing could be sent from here. The team repeats its request when it is approved, and that announces the call.
 */
import { events, inOrder, refuse, type Decision } from '../decision.ts';
import type {
  AskPayoutApproval,
  GrantPayout,
  ObservedPayout,
  PayoutRefusal,
  RecordApprovalLapsed,
  RefusePayout,
  RequestPayout,
} from './payout-commands.ts';
import type { PayoutEvent } from './payout-events.ts';
import { endDeferredOfOwn } from '../deferred-callback.ts';
import { isAbout, isOpen } from '../review.ts';
import { acceptPayout, agrees, byLikelihood, isOwnNumber, openSecondPayouts } from './payout-observation.ts';
import { evolvePayout, type Payout } from './payout-state.ts';

type PayoutDecision = Decision<PayoutEvent, PayoutRefusal>;

/** How long a payout waits to be approved, and then to be sent, milliseconds. */
export const approvalLastsMs = 24 * 60 * 60 * 1000;

/** True while nothing of it is announced. */
export const isBeforeAnnouncement = ({ phase }: Pick<Payout, 'phase'>): boolean =>
  phase === 'awaiting_approval' || phase === 'approval_granted';

/** The service has something under its number: nothing is sent until a person has looked at it, also where it was declined, which may be revised. */
export const isHeldByReview = ({ reviews }: Pick<Payout, 'reviews'>): boolean =>
  isOpen({ reviews }, 'second_payout_found');

export function askApproval(ask: AskPayoutApproval): PayoutEvent {
  const { type: _, earlierFingerprints: __, askedAt, ...data } = ask;
  return { type: 'PayoutApprovalRequested', data: { ...data, lapsesAt: askedAt + approvalLastsMs } };
}

/** A further request with the terms of the first: it announces the call of a payout that is approved, in time. */
export function announceApproved(state: Payout, request: RequestPayout): PayoutEvent[] {
  const { type: _, earlierFingerprints: __, requestedAt, ...data } = request;
  // The amount is reserved in one account.
  const isItsAccount = data.call.account === state.call.account;
  const maySend = state.phase === 'approval_granted' && !isApprovalOver(state, requestedAt);
  return maySend && isItsAccount ? [{ type: 'PayoutRequested', data }] : [];
}

export function grantPayout(state: Payout, { keyId, at }: GrantPayout): PayoutDecision {
  const { approval } = state;
  if (approval === undefined) return refuse({ code: 'payout_not_awaiting_approval' });
  if (approval.askedBy === keyId) return refuse({ code: 'approval_by_requester' });
  if (approval.grantedBy === keyId && state.phase !== 'failed') return events();
  const isWaiting = state.phase === 'awaiting_approval';
  if (isWaiting && isHeldByReview(state)) return refuse({ code: 'payout_in_review' });
  if (!isWaiting || isApprovalOver(state, at)) return refuse({ code: 'payout_not_awaiting_approval' });
  const data = { grantedBy: keyId, lapsesAt: at + approvalLastsMs };
  return events({ type: 'PayoutApprovalGranted', data });
}

/** Also one that is approved and not sent yet. */
export function refusePayout(state: Payout, { keyId, reason, found }: RefusePayout): PayoutDecision {
  const { approval } = state;
  if (approval === undefined) return refuse({ code: 'payout_not_awaiting_approval' });
  if (approval.askedBy === keyId) return refuse({ code: 'approval_by_requester' });
  if (state.failure === 'approval-refused' || isThereWithoutCall(state)) return events();
  // Also late: where the service never answers it does not lapse, and this ends it.
  if (!isBeforeAnnouncement(state)) return refuse({ code: 'payout_not_awaiting_approval' });
  if (!isWholeFor(state, found)) return refuse({ code: 'payout_in_review' });
  return events(
    { type: 'PayoutApprovalRefused', data: { refusedBy: keyId, reason } },
    ...inOrder<Payout, PayoutEvent>(state, evolvePayout, [
      (payout) => takeOver(payout, found),
      (payout) =>
        isBeforeAnnouncement(payout) ? [{ type: 'PayoutFailed', data: { reason: 'approval-refused' } }] : [],
    ]),
  );
}

/** False where something is in review that was not looked for, or was found since, or elsewhere: it may be this payout. */
const isWholeFor = ({ reviews }: Payout, found: readonly ObservedPayout[] = []): boolean =>
  reviews
    .filter(({ code }) => code === 'second_payout_found')
    .every((open) => found.some(({ serviceToken }) => isAbout(open, 'serviceToken', serviceToken)));

/** One that is in review waits for a person, however late it is. */
export function recordApprovalLapsed(state: Payout, { at, found }: RecordApprovalLapsed): PayoutEvent[] {
  if (!isBeforeAnnouncement(state) || !isApprovalOver(state, at) || found === undefined) return [];
  return inOrder<Payout, PayoutEvent>(state, evolvePayout, [
    (payout) => takeOver(payout, found),
    (payout) =>
      isBeforeAnnouncement(payout) && !isHeldByReview(payout)
        ? [{ type: 'PayoutFailed', data: { reason: 'approval-lapsed' } }]
        : [],
    (payout) => endDeferredOfOwn(payout, payout.serviceToken),
  ]);
}

/**
 * It is not to be sent any more, and the service has it all the same: it was sent before a backup of the store was restored, however long
 * before: its number follows from the key of its request, which may have been repeated since. Others under its number are in review.
 */
function takeOver(state: Payout, found: readonly ObservedPayout[] = []): PayoutEvent[] {
  const own = found.filter((each) => isOwnNumber(state, each));
  const [likeliest] = byLikelihood(state, own);
  const isOurs = likeliest !== undefined && agrees(state, likeliest);
  const others = isOurs ? own.filter((each) => each !== likeliest) : own;
  return inOrder<Payout, PayoutEvent>(state, evolvePayout, [
    (payout) => (isOurs ? acceptPayout(payout, likeliest, 'before-announcement') : []),
    (payout) => openSecondPayouts(payout, others),
  ]);
}

/** The service has it, and its call was never announced here. */
const isThereWithoutCall = ({ call, serviceToken }: Payout): boolean =>
  call.sendBy === 0 && serviceToken !== undefined;

/** True where nobody may approve it any more, or send it. */
export const isApprovalOver = ({ approval }: Pick<Payout, 'approval'>, at: number): boolean =>
  approval !== undefined && at >= approval.lapsesAt;
