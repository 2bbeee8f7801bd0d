/**
 * Decisions about a payout. Pure: time, identifiers and the provider's answers are part of the command.
 * Every decision may be repeated on a newer state, which happens if an append meets a conflict.
 */
import { amountSchema } from '../money.ts';
import { events, refuse, type Decision } from '../decision.ts';
import { deferCallback, endDeferredAbout, endDeferredOfOwn } from '../deferred-callback.ts';
import { observeDiscrepancy, reopen, type RecordedDiscrepancy } from '../discrepancy.ts';
import { openNotReadable, resolveNotReadable } from '../failed-inquiry.ts';
import { unreachable } from '../invariant.ts';
import { isSameRequest } from '../request-fingerprint.ts';
import {
  findOpen,
  proposalFor,
  resolvedByAPerson,
  resolveWhere,
  type Resolution,
  type Review,
} from '../review.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import { omitUndefined } from '../values.ts';
import type {
  AskPayoutApproval,
  GrantPayout,
  PayoutInput,
  PayoutObservation,
  PayoutRefusal,
  RefusePayout,
  RequestPayout,
} from './payout-commands.ts';
import { payoutStatusSchema, type PayoutEvent, type PayoutReviewCode } from './payout-events.ts';
import { isFinalPayoutPhase, statusOfPayoutPhase } from './payout-machine.ts';
import { recordPayoutObservation, recordPayoutOutcome, recordPayoutSearch } from './payout-observation.ts';
import {
  inPayoutSteps,
  inquiryNeedOfPayout,
  isApprovalOver,
  isBeforeAnnouncement,
  isPayoutAwaited,
  payoutQuietUntil,
  ourPayoutSide,
  type Payout,
  type PayoutState,
} from './payout-state.ts';

export type PayoutDecision = Decision<PayoutEvent, PayoutRefusal>;

/** How long a payout waits for its approval, and then to be sent, milliseconds. */
export const approvalLastsMs = 24 * 60 * 60 * 1000;

/** Events to append atomically, none if nothing is new, or a refusal. */
export function decidePayout(state: PayoutState, input: PayoutInput): PayoutDecision {
  switch (input.type) {
    case 'RequestPayout':
      return requestPayout(state, input);
    case 'AskPayoutApproval':
      return askPayoutApproval(state, input);
    case 'GrantPayout':
      return state === undefined ? refuse({ code: 'payout_not_found' }) : grantPayout(state, input);
    case 'RefusePayout':
      return state === undefined ? refuse({ code: 'payout_not_found' }) : refusePayout(state, input);
    case 'ResolveReview':
      return state === undefined ? refuse({ code: 'payout_not_found' }) : resolvePayoutReview(state, input);
    default:
      return { kind: 'events', events: state === undefined ? [] : record(state, input) };
  }
}

/**
 * The replay check comes first: the same terms write nothing, other terms under the same key are refused. A payout that a
 * second key has approved is announced by a repeat of the request, because only a mask of its destination is stored.
 */
function requestPayout(state: PayoutState, request: RequestPayout): PayoutDecision {
  const { type: _, earlierFingerprints: __, requestedAt, ...data } = request;
  if (state === undefined) return events({ type: 'PayoutRequested', data });
  if (!isSameRequest(state, request)) return refuse({ code: 'idempotency_key_reused' });
  // The amount is reserved in one account, and in the team's wallet at the time.
  const isItsAccount = data.call.account === state.call.account;
  const maySend = state.phase === 'approval_granted' && !isApprovalOver(state, requestedAt);
  return events(
    ...(maySend && isItsAccount
      ? [{ type: 'PayoutRequested' as const, data: { ...data, wallet: state.wallet } }]
      : []),
  );
}

function askPayoutApproval(state: PayoutState, ask: AskPayoutApproval): PayoutDecision {
  if (state !== undefined)
    return isSameRequest(state, ask) ? events() : refuse({ code: 'idempotency_key_reused' });
  const { type: _, earlierFingerprints: __, askedAt, ...data } = ask;
  return events({ type: 'PayoutApprovalRequested', data: { ...data, lapsesAt: askedAt + approvalLastsMs } });
}

function grantPayout(state: Payout, { keyId, at }: GrantPayout): PayoutDecision {
  const { approval, askedBy, phase } = state;
  if (approval === undefined) return refuse({ code: 'payout_not_awaiting_approval' });
  if (askedBy === keyId) return refuse({ code: 'approval_by_requester' });
  if (approval.grantedBy === keyId && phase !== 'failed') return events();
  if (phase !== 'awaiting_approval' || isApprovalOver(state, at))
    return refuse({ code: 'payout_not_awaiting_approval' });
  const data = { grantedBy: keyId, lapsesAt: at + approvalLastsMs };
  return events({ type: 'PayoutApprovalGranted', data });
}

/** Includes an approved one that is not sent yet. */
function refusePayout(state: Payout, { keyId, reason }: RefusePayout): PayoutDecision {
  const { approval, askedBy, failure } = state;
  if (approval === undefined) return refuse({ code: 'payout_not_awaiting_approval' });
  if (askedBy === keyId) return refuse({ code: 'approval_by_requester' });
  if (failure === 'approval-refused') return events();
  if (!isBeforeAnnouncement(state)) return refuse({ code: 'payout_not_awaiting_approval' });
  return events(
    { type: 'PayoutApprovalRefused', data: { refusedBy: keyId, reason } },
    { type: 'PayoutFailed', data: { reason: 'approval-refused' } },
  );
}

const record = (state: Payout, observation: PayoutObservation): PayoutEvent[] =>
  inPayoutSteps(
    state,
    (payout) => eventsOf(payout, observation),
    (payout) => (isInquiry(observation) ? resolveNotReadable<PayoutReviewCode>(payout) : []),
    resolveAnswered,
  );

const isInquiry = ({ type }: Pick<PayoutObservation, 'type'>): boolean =>
  type === 'RecordPayoutSearch' || type === 'RecordPayoutObservation' || type === 'RecordMissing';

function eventsOf(state: Payout, observation: PayoutObservation): PayoutEvent[] {
  // Its call is not announced, so nothing at the provider is its effect.
  const isOfCall = isInquiry(observation) || observation.type === 'RecordPayoutOutcome';
  if (isOfCall && isBeforeAnnouncement(state)) return [];
  switch (observation.type) {
    case 'RecordApprovalLapsed':
      return isBeforeAnnouncement(state) && isApprovalOver(state, observation.at)
        ? [{ type: 'PayoutFailed', data: { reason: 'approval-lapsed' } }]
        : [];
    case 'RecordPayoutOutcome':
      return recordPayoutOutcome(state, observation.outcome);
    case 'RecordPayoutSearch':
      return recordPayoutSearch(state, observation);
    case 'RecordPayoutObservation':
      return recordPayoutObservation(state, observation);
    case 'RecordMissing':
      return recordMissing(state, observation);
    case 'DeferCallback':
      return deferCallback(state, observation);
    case 'RecordCallbackInquired':
      return endDeferredAbout(state, observation.serviceToken);
    case 'RecordInquiryFailed':
      return openNotReadable(state, observation, {
        inquiryNeed: inquiryNeedOfPayout(state),
        quietUntil: payoutQuietUntil(state),
      });
    default:
      return unreachable(observation);
  }
}

function recordMissing(state: Payout, { serviceToken }: { serviceToken: string }): PayoutEvent[] {
  if (state.serviceToken !== serviceToken) return [];
  // A person has accepted that the provider does not have it.
  const isKnown = state.declineReason === resolvedByAPerson;
  const onlyHere = { kind: 'only_here', operation: 'payout', serviceToken, theirs: null } as const;
  return [
    ...(isKnown ? [] : observeDiscrepancy(state, { ...onlyHere, ours: ourPayoutSide(state) })),
    ...endDeferredOfOwn(state, serviceToken),
  ];
}

/** The allowed resolutions of a review, in the payout's current state. */
export function payoutResolutionsOf(
  payout: Payout,
  { code, number }: Pick<Review<PayoutReviewCode>, 'code' | 'number'>,
): readonly Resolution[] {
  if (code === 'payout_not_found') return ['check_again', 'payout_not_made'];
  if (code === 'service_not_readable') return ['check_again', 'acknowledged'];
  const about = payout.discrepancies.find((each) => each.number === number);
  const isAcceptable = about !== undefined && acceptTheirs(payout, about) !== undefined;
  return isAcceptable ? ['accept_theirs', 'keep_ours', 'check_again'] : ['keep_ours', 'check_again'];
}

/** Events that make our record equal the provider's; undefined if impossible. The fold accepts the amount. */
function acceptTheirs(state: Payout, about: RecordedDiscrepancy): PayoutEvent[] | undefined {
  const { theirs, kind, serviceToken } = about;
  const { phase, terms, call } = state;
  const isFinal = isFinalPayoutPhase(phase);
  const isOurs =
    state.serviceToken === undefined
      ? phase === 'failed' && kind !== 'second_payout_found'
      : state.serviceToken === serviceToken;
  if (!isOurs) return undefined;
  const from = statusOfPayoutPhase(phase) === 'approved' ? 'approved' : 'declined';
  const declineReason = resolvedByAPerson;
  if (theirs === null) {
    if (!isFinal) return [{ type: 'PayoutDeclined', data: { declineReason } }];
    return from === 'approved'
      ? [{ type: 'FinalStatusRevised', data: { from, to: 'declined', declineReason } }]
      : undefined;
  }
  const to = payoutStatusSchema.safeParse(theirs.status).data;
  const isOfThis =
    theirs.currency === terms.currency &&
    (theirs.orderNumber ?? call.providerOrderNumber) === call.providerOrderNumber &&
    amountSchema.safeParse(theirs.amount).success;
  if (to === undefined || !isOfThis) return undefined;
  // The next inquiry accepts the status of an open one.
  if (!isFinal || to === from) return [];
  if (from === 'approved' && to === 'pending') return undefined;
  const token = omitUndefined({ serviceToken: state.serviceToken === undefined ? serviceToken : undefined });
  return [{ type: 'FinalStatusRevised', data: { from, to, ...token } }];
}

function resolvePayoutReview(state: Payout, answer: ResolveReview<PayoutReviewCode>): PayoutDecision {
  const { code, number, resolution, reason, releases } = answer;
  const open = findOpen(state, { code, number });
  if (open === undefined) return refuse({ code: 'review_not_found' });
  const allowed = payoutResolutionsOf(state, open);
  if (!allowed.includes(resolution)) return refuse({ code: 'resolution_not_allowed', allowed });
  const proposed = proposalFor(open, answer);
  if (proposed !== undefined) return events(...proposed);
  const data = { code, number, resolution, reason, ...omitUndefined({ releases }) };
  const resolved: PayoutEvent = { type: 'ReviewResolved', data };
  const effect = effectOf(state, open, resolution);
  return events(...inPayoutSteps(state, () => [resolved, ...effect], resolveAnswered));
}

/** The events of the answer, apart from the end of the review. */
function effectOf(
  state: Payout,
  { number }: Review<PayoutReviewCode>,
  resolution: Resolution,
): PayoutEvent[] {
  const about = state.discrepancies.find((each) => each.number === number);
  if (resolution === 'payout_not_made') return [{ type: 'PayoutFailed', data: { reason: 'resolved' } }];
  if (resolution === 'accept_theirs') return (about && acceptTheirs(state, about)) ?? [];
  return resolution === 'check_again' && about !== undefined ? reopen(about) : [];
}

const isStillInDoubt: Partial<Record<PayoutReviewCode, (payout: Payout) => boolean>> = {
  payout_not_found: isPayoutAwaited,
  service_not_readable: (payout) => inquiryNeedOfPayout(payout) !== 'settled',
};

/** Resolves reviews whose outcome is known by now. */
const resolveAnswered = (payout: Payout): PayoutEvent[] =>
  resolveWhere(payout, ({ code }) => isStillInDoubt[code]?.(payout) === false);
