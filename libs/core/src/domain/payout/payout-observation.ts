/** Turns the outcome of the call and of status inquiries into events of a payout. */
import { endDeferredAbout, endDeferredOfOwn } from '../deferred-callback.ts';
import {
  endDiscrepancy,
  observeDiscrepancy,
  theirSide,
  type Discrepancy,
  type DiscrepancyKind,
} from '../discrepancy.ts';
import {
  callRules,
  endCall,
  isAnswerDue,
  leaveUnresolved,
  mayBeMadeBy,
  originEvidence,
  refusedFor,
  settleCall,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import { openReview, resolvedByAPerson } from '../review.ts';
import { isStale, type Inquired } from '../shared-inputs.ts';
import { cut, omitUndefined } from '../values.ts';
import type {
  ObservedPayout,
  PayoutOutcome,
  RecordPayoutObservation,
  RecordPayoutSearch,
} from './payout-commands.ts';
import { payoutStatusSchema, type PayoutEvent } from './payout-events.ts';
import { isFinalPayoutPhase, statusOfPayoutPhase } from './payout-machine.ts';
import { inPayoutSteps, isPayoutAwaited, ourPayoutSide, type Payout } from './payout-state.ts';

/**
 * The payout's only call, in flight while its outcome is unknown. A second call may pay twice, and a payout is rarely
 * recovered: a lost answer is inquired, and if the provider does not have the payout, a review opens.
 */
const payoutInFlight = (state: Payout): CallInFlight<PayoutEvent, ObservedPayout> => ({
  ...state.call,
  isUnresolved: state.phase !== 'requested',
  unresolved: (reason, errors) => ({
    type: 'PayoutUnresolved',
    data: { reason, ...omitUndefined({ errors }) },
  }),
  accepted: (answer) => accept(state, answer, 'answer'),
  refused: ({ errors }) => [
    { type: 'PayoutRefused', data: { errors } },
    { type: 'PayoutFailed', data: { reason: 'refused' } },
  ],
  notSent: (reason) => [
    { type: 'PayoutNotSent', data: { reason } },
    { type: 'PayoutFailed', data: { reason: 'not-sent' } },
  ],
});

export function recordPayoutOutcome(state: Payout, outcome: PayoutOutcome): PayoutEvent[] {
  if (isPayoutAwaited(state)) return endCall(payoutInFlight(state), outcome);
  // An inquiry was faster, or a person has decided: that holds, and this answer is older.
  if (outcome.kind !== 'accepted' || state.serviceToken === outcome.serviceToken) return [];
  return observeFound(state, outcome);
}

export function recordPayoutSearch(state: Payout, search: RecordPayoutSearch): PayoutEvent[] {
  const { inquiredAt, found } = search;
  const call = payoutInFlight(state);
  if (isPayoutAwaited(state) && isAnswerDue(call, inquiredAt)) return [];
  const own = found.filter((payout) => isOwnNumber(state, payout));
  const others = own.filter(({ serviceToken }) => serviceToken !== state.serviceToken);
  if (!isPayoutAwaited(state))
    return inPayoutSteps(
      state,
      ...others.map((each) => (payout: Payout) => observeFound(payout, each)),
      (payout) => endDeferredOfOwn(payout, payout.serviceToken ?? own[0]?.serviceToken),
    );
  const first = likeliestOf(state, own);
  return inPayoutSteps(
    state,
    () =>
      settleCall<PayoutEvent>(call, {
        inquiredAt,
        effect: first && accept(state, first, 'inquiry'),
        // The answer concerns other orders, so it proves no absence.
        absent: () => giveUp(state, own[0] ?? found[0]),
      }),
    ...own.map((each) => (payout: Payout) => (each === first ? [] : observeDuplicate(payout, each))),
    (payout) => endDeferredOfOwn(payout, payout.serviceToken ?? own[0]?.serviceToken),
  );
}

/**
 * A refusal is confirmed. Any other call may have paid out.
 *
 * @param stranger found, but not made by the call
 */
function giveUp(state: Payout, stranger: ObservedPayout | undefined): PayoutEvent[] {
  const { errors, call } = state;
  if (errors.length > 0 && stranger === undefined) return payoutInFlight(state).refused(refusedFor(errors));
  const { providerOrderNumber } = call;
  const evidence = { providerOrderNumber, ...(stranger && originEvidence(stranger)) };
  return openReview(state, callRules.payout.review, evidence);
}

/** A payout was retrieved by the provider's token: ours, or a duplicate. */
export function recordPayoutObservation(state: Payout, observation: RecordPayoutObservation): PayoutEvent[] {
  const { observed, inquiredAt } = observation;
  const { serviceToken } = observed;
  const isOurs =
    state.serviceToken === undefined ? mayBeOurs(state, observed) : state.serviceToken === serviceToken;
  if (!isPayoutAwaited(state))
    return isOurs
      ? [...observePayout(state, observation), ...endDeferredOfOwn(state, serviceToken)]
      : [...observeDuplicate(state, observed), ...endDeferredAbout(state, serviceToken)];
  // Without a number it cannot be recognized: the search that follows finds it.
  if (observed.orderNumber === undefined) return [];
  if (!isOurs) return [...observeDuplicate(state, observed), ...endDeferredAbout(state, serviceToken)];
  const call = payoutInFlight(state);
  if (isAnswerDue(call, inquiredAt)) return [];
  return [
    ...leaveUnresolved(call, 'no outcome was recorded'),
    ...accept(state, observed, 'inquiry'),
    ...endDeferredOfOwn(state, serviceToken),
  ];
}

const isOwnNumber = ({ call }: Payout, { orderNumber }: ObservedPayout): boolean =>
  (orderNumber ?? call.providerOrderNumber) === call.providerOrderNumber;

const mayBeOurs = (state: Payout, observed: ObservedPayout): boolean =>
  isOwnNumber(state, observed) && mayBeMadeBy(state.call, observed);

/** The best match of the candidates: our terms first, then the one that was paid out. */
function likeliestOf(state: Payout, found: readonly ObservedPayout[]): ObservedPayout | undefined {
  const paid = ({ status }: ObservedPayout) => (status === 'approved' ? 2 : status === 'declined' ? 0 : 1);
  const likelihood = (each: ObservedPayout) => (agrees(state, each) ? 3 : 0) + paid(each);
  return found
    .filter((each) => mayBeOurs(state, each))
    .toSorted((one, other) => likelihood(other) - likelihood(one))[0];
}

/** The awaited payout was found: it is ours, and its status counts if its terms match. */
const accept = (state: Payout, observed: ObservedPayout, evidence: 'answer' | 'inquiry'): PayoutEvent[] =>
  inPayoutSteps(
    state,
    () => [{ type: 'PayoutAccepted', data: { serviceToken: observed.serviceToken, evidence } }],
    (payout) => observePayout(payout, { observed, inquiredAt: 0, changedAt: 0 }),
  );

/** For a failed payout, any payout under its number that its call may have made is a discrepancy. */
const observeFound = (state: Payout, observed: ObservedPayout): PayoutEvent[] =>
  state.serviceToken === undefined && mayBeOurs(state, observed)
    ? observePayout(state, { observed, inquiredAt: 0, changedAt: 0 })
    : observeDuplicate(state, observed);

/** A second payout under our number. A declined one is not a duplicate. */
const observeDuplicate = (state: Payout, observed: ObservedPayout): PayoutEvent[] =>
  observed.status === 'declined'
    ? endDiscrepancy(state, observed.serviceToken)
    : observeDiscrepancy(state, differing('second_payout_found', observed, null));

const differing = (
  kind: DiscrepancyKind,
  observed: ObservedPayout,
  ours: Discrepancy['ours'],
): Discrepancy => ({
  kind,
  operation: 'payout',
  serviceToken: observed.serviceToken,
  ours,
  theirs: theirSide(observed),
});

type Verdict = DiscrepancyKind | 'agrees' | 'says-nothing';

/** Its progress and its discrepancies. */
const observePayout = (
  state: Payout,
  observation: Pick<RecordPayoutObservation, 'observed'> & Inquired,
): PayoutEvent[] =>
  inPayoutSteps(
    state,
    (payout) => observeProgress(payout, observation.observed),
    (payout) => {
      const { observed } = observation;
      const verdict = verdictOn(payout, observation);
      if (verdict === 'says-nothing') return [];
      return verdict === 'agrees'
        ? endDiscrepancy(payout, observed.serviceToken)
        : observeDiscrepancy(payout, differing(verdict, observed, ourPayoutSide(payout)));
    },
  );

function observeProgress(state: Payout, observed: ObservedPayout): PayoutEvent[] {
  const { status, declineReason } = observed;
  if (state.phase !== 'pending' || !agrees(state, observed)) return [];
  if (status === 'approved') return [{ type: 'PayoutApproved', data: {} }];
  if (status !== 'declined') return [];
  const reason = omitUndefined({ declineReason: declineReason && cut(declineReason) });
  return [{ type: 'PayoutDeclined', data: reason }];
}

function verdictOn(
  state: Payout,
  { observed, ...inquired }: Pick<RecordPayoutObservation, 'observed'> & Inquired,
): Verdict {
  if (!payoutStatusSchema.safeParse(observed.status).success) return 'unknown_status';
  if (!agrees(state, observed)) return 'terms_disagree';
  if (!isFinalPayoutPhase(state.phase) || statusOfPayoutPhase(state.phase) === observed.status)
    return 'agrees';
  // By our record, a failed payout, or one that a person resolved as not made, was never pending at the provider.
  const wasPending = state.phase !== 'failed' && state.declineReason !== resolvedByAPerson;
  return observed.status === 'pending' && wasPending && isStale(inquired)
    ? 'says-nothing'
    : 'final_status_revised';
}

/** Money of another amount, currency or order does not belong to this payout. */
const agrees = ({ terms, ...state }: Payout, observed: ObservedPayout): boolean =>
  observed.amount === terms.amount &&
  observed.currency === terms.currency &&
  (observed.orderNumber ?? state.call.providerOrderNumber) === state.call.providerOrderNumber;

/** The provider shows one under its number that is not known to be declined. */
export const mayBePaidOut = ({ discrepancies }: Pick<Payout, 'discrepancies'>): boolean =>
  discrepancies.some(
    ({ theirs, state }) => state === 'open' && theirs !== null && theirs.status !== 'declined',
  );
