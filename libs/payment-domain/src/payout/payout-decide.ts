/**
 * The decisions about a payout. Pure: time, identifiers and what the service said come in with the command.
 * Every decision is safe to take again on a newer state, which is what happens when an append meets a conflict.
 */
import { events, inOrder, refuse, type Decision } from '../decision.ts';
import { openNotReadable, resolveNotReadable } from '../failed-inquiry.ts';
import { unreachable } from '../invariant.ts';
import {
  callRules,
  endCall,
  isAnswerDue,
  originEvidence,
  refusedFor,
  settleCall,
} from '../outbound-call/outbound-call.ts';
import { isSameRequest } from '../request-fingerprint.ts';
import { openLatest, openReview } from '../review.ts';
import { deferCallback, endDeferredAbout, endDeferredOfOwn } from '../deferred-callback.ts';
import {
  announceApproved,
  askApproval,
  grantPayout,
  isBeforeAnnouncement,
  isHeldByReview,
  recordApprovalLapsed,
  refusePayout,
} from './payout-approval.ts';
import type {
  AskPayoutApproval,
  ObservedPayout,
  PayoutInput,
  PayoutObservation,
  PayoutOutcome,
  PayoutRefusal,
  RecordPayoutSearch,
  RequestPayout,
} from './payout-commands.ts';
import type { PayoutEvent, PayoutReviewCode } from './payout-events.ts';
import {
  acceptPayout,
  byLikelihood,
  isOwnNumber,
  observeBeforeAnnouncement,
  observePayout,
  openPayoutDisagreement,
  openSecondPayouts,
  payoutInFlight,
  recordPayoutObservation,
  settleDoubtsBesidePayout,
} from './payout-observation.ts';
import { resolveAnsweredOfPayout, resolvePayoutReview } from './payout-resolutions.ts';
import {
  evolvePayout,
  inquiryNeedOfPayout,
  isPayoutAwaited,
  payoutQuietUntil,
  type Payout,
  type PayoutState,
} from './payout-state.ts';

export type PayoutDecision = Decision<PayoutEvent, PayoutRefusal>;

/**
 * What a command or observation makes of a payout: events to append atomically, none where it is nothing new, or a
 * refusal.
 */
export function decidePayout(state: PayoutState, input: PayoutInput): PayoutDecision {
  switch (input.type) {
    case 'RequestPayout':
      return requestPayout(state, input);
    case 'AskPayoutApproval':
      return askPayoutApproval(state, input);
    case 'GrantPayout':
      return state === undefined ? refuse({ code: 'payout_not_found' }) : grantPayout(state, input);
    case 'RefusePayout':
      return state === undefined
        ? refuse({ code: 'payout_not_found' })
        : withAnswered(state, refusePayout(state, input));
    case 'ResolveReview':
      return state === undefined
        ? refuse({ code: 'payout_not_found' })
        : withAnswered(state, resolvePayoutReview(state, input));
    default:
      return { kind: 'events', events: state === undefined ? [] : record(state, input) };
  }
}

// The replay check comes first: the same terms again write nothing, other terms under the same key are refused.
function requestPayout(state: PayoutState, request: RequestPayout): PayoutDecision {
  const { type: _, earlierFingerprints: __, requestedAt: ___, ...data } = request;
  if (state === undefined) return events({ type: 'PayoutRequested', data });
  if (!isSameRequest(state, request)) return refuse({ code: 'idempotency_key_reused' });
  if (state.phase === 'approval_granted' && isHeldByReview(state))
    return refuse({ code: 'payout_in_review' });
  return events(...announceApproved(state, request));
}

function askPayoutApproval(state: PayoutState, ask: AskPayoutApproval): PayoutDecision {
  if (state === undefined) return events(askApproval(ask));
  return isSameRequest(state, ask) ? events() : refuse({ code: 'idempotency_key_reused' });
}

/** The decision, and the reviews that its events resolve. */
const withAnswered = (state: Payout, decision: PayoutDecision): PayoutDecision =>
  decision.kind === 'refused'
    ? decision
    : events(...inOrder(state, evolvePayout, [() => decision.events, resolveAnsweredOfPayout]));

const record = (state: Payout, observation: PayoutObservation): PayoutEvent[] =>
  inOrder<Payout, PayoutEvent>(state, evolvePayout, [
    (payout) => eventsOf(payout, observation),
    (payout) => (isAnswered(observation) ? resolveNotReadable<PayoutReviewCode>(payout) : []),
    settleDoubtsBesidePayout,
    resolveAnsweredOfPayout,
  ]);

const isAnswered = (observation: PayoutObservation): boolean =>
  observation.type === 'RecordApprovalLapsed' ? observation.found !== undefined : isInquiry(observation);

const isInquiry = ({ type }: Pick<PayoutObservation, 'type'>): boolean =>
  type === 'RecordPayoutSearch' || type === 'RecordPayoutObservation' || type === 'RecordMissing';

/** No call of it is announced, so none of this is about one. */
const isOfNoCall = (state: Payout, { type }: PayoutObservation): boolean =>
  isBeforeAnnouncement(state) && (isInquiry({ type }) || type === 'RecordPayoutOutcome');

function eventsOf(state: Payout, observation: PayoutObservation): PayoutEvent[] {
  if (isOfNoCall(state, observation))
    return observation.type === 'RecordPayoutObservation'
      ? observeBeforeAnnouncement(state, observation.observed)
      : [];
  switch (observation.type) {
    case 'RecordApprovalLapsed':
      return recordApprovalLapsed(state, observation);
    case 'RecordPayoutOutcome':
      return recordOutcome(state, observation.outcome);
    case 'RecordPayoutSearch':
      return recordSearch(state, observation);
    case 'RecordPayoutObservation':
      return recordPayoutObservation(state, observation);
    case 'RecordMissing':
      if (state.serviceToken !== observation.serviceToken) return [];
      return [
        ...openLatest(state, 'only_here', { serviceToken: observation.serviceToken }),
        ...endDeferredOfOwn(state, observation.serviceToken),
      ];
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

function recordOutcome(state: Payout, outcome: PayoutOutcome): PayoutEvent[] {
  if (isPayoutAwaited(state)) return endCall(payoutInFlight(state), outcome);
  // An inquiry was faster, or a person has decided: that stands.
  if (outcome.kind !== 'accepted') return [];
  if (state.serviceToken === undefined) return observePayout(state, outcome);
  // Of the payout that an inquiry found: later inquiries count, this answer is older.
  return openSecondPayouts(state, othersThan(state.serviceToken, [outcome]));
}

const othersThan = (known: string | undefined, found: readonly ObservedPayout[]): ObservedPayout[] =>
  found.filter(({ serviceToken }) => serviceToken !== known);

function recordSearch(state: Payout, search: RecordPayoutSearch): PayoutEvent[] {
  const call = payoutInFlight(state);
  if (isPayoutAwaited(state) && isAnswerDue(call, search.inquiredAt)) return [];
  const own = search.found.filter((payout) => isOwnNumber(state, payout));
  // Too late to be needed, yet a payout that nobody knows of is a second one.
  if (state.serviceToken !== undefined) return openSecondPayouts(state, othersThan(state.serviceToken, own));
  const effect = effectOf(state, own, search);
  return inOrder<Payout, PayoutEvent>(state, evolvePayout, [
    () =>
      isPayoutAwaited(state)
        ? settleCall<PayoutEvent>(call, {
            inquiredAt: search.inquiredAt,
            effect,
            absent: () => giveUp(state, own[0]),
          })
        : (effect ?? []),
    (payout) => endDeferredOfOwn(payout, payout.serviceToken ?? own[0]?.serviceToken),
  ]);
}

/** What a search shows of a payout that is awaited, or that has failed and must not be there. */
function effectOf(
  state: Payout,
  own: readonly ObservedPayout[],
  { found: [foreign] }: RecordPayoutSearch,
): PayoutEvent[] | undefined {
  const isAwaited = isPayoutAwaited(state);
  // An answer about other orders than the one asked for proves nothing about ours.
  if (own.length === 0) return foreign && isAwaited ? openPayoutDisagreement(state, foreign) : undefined;
  const [first] = byLikelihood(state, own);
  if (first === undefined) return isAwaited ? undefined : openSecondPayouts(state, own);
  return inOrder<Payout, PayoutEvent>(state, evolvePayout, [
    () => (isAwaited ? acceptPayout(state, first, 'inquiry') : observePayout(state, first)),
    (payout) => openSecondPayouts(payout, othersThan(first.serviceToken, own)),
  ]);
}

/**
 * A refusal is confirmed. Anything else may have been paid out.
 *
 * @param stranger has our number, and the call cannot have made it
 */
function giveUp(state: Payout, stranger: ObservedPayout | undefined): PayoutEvent[] {
  const { errors, call } = state;
  if (errors.length > 0 && stranger === undefined) return payoutInFlight(state).refused(refusedFor(errors));
  const { providerOrderNumber } = call;
  const evidence = { providerOrderNumber, ...(stranger && originEvidence(stranger)) };
  return openReview(state, callRules.payout.review, evidence);
}
