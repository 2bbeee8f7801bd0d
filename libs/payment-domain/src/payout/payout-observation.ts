/** What the service shows of a payout that was not known. An inquiry that finds no change gives no event. */
import { inOrder } from '../decision.ts';
import {
  isAnswerDue,
  leaveUnresolved,
  mayBeMadeBy,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import {
  endDoubtsAfter,
  openInstead,
  openLatest,
  openReview,
  resolvedByAPerson,
  type Evidence,
} from '../review.ts';
import { isKnownBeside, openBeside, settleBeside, shownBeside } from '../review-beside.ts';
import { endDeferredAbout, endDeferredOfOwn } from '../deferred-callback.ts';
import { mayBeOlder } from '../older-picture.ts';
import { cut, omitUndefined } from '../values.ts';
import type { ObservedPayout, RecordPayoutObservation } from './payout-commands.ts';
import {
  payoutStatusSchema,
  type PayoutEvent,
  type PayoutEvidence,
  type PayoutReviewCode,
  type PayoutStatus,
} from './payout-events.ts';
import { isFinalPayoutPhase, statusOfPayoutPhase } from './payout-machine.ts';
import { evolvePayout, isPayoutAwaited, type Payout } from './payout-state.ts';

/**
 * The payout's one call, in flight while its outcome is unknown. A second call may pay twice, and money that went out
 * seldom comes back: a lost answer is inquired, and where the service does not have the payout, a review opens.
 */
export const payoutInFlight = (state: Payout): CallInFlight<PayoutEvent, ObservedPayout> => ({
  ...state.call,
  isUnresolved: state.phase !== 'requested',
  unresolved: (reason, errors) => ({
    type: 'PayoutUnresolved',
    data: { reason, ...omitUndefined({ errors }) },
  }),
  accepted: (answer) => acceptPayout(state, answer, 'answer'),
  refused: ({ errors }) => [
    { type: 'PayoutRefused', data: { errors } },
    { type: 'PayoutFailed', data: { reason: 'refused' } },
  ],
  notSent: (reason) => [
    { type: 'PayoutNotSent', data: { reason } },
    { type: 'PayoutFailed', data: { reason: 'not-sent' } },
  ],
});

/** What a retrieval leads to, whichever payout it is of. */
export function recordPayoutObservation(state: Payout, observation: RecordPayoutObservation): PayoutEvent[] {
  const { observed, inquiredAt } = observation;
  if (isPayoutAwaited(state)) return observeAwaited(state, observed, inquiredAt);
  const isKnown =
    state.serviceToken === undefined
      ? mayBeOurs(state, observed)
      : state.serviceToken === observed.serviceToken;
  if (!isKnown) return observeAnother(state, observed);
  return [
    ...observePayout(state, observed),
    ...observeOpenAgain(state, observation),
    ...endDeferred(state, observed),
  ];
}

/** The review has that payout in its evidence: callbacks about it are part of the same question. */
const observeAnother = (state: Payout, observed: ObservedPayout): PayoutEvent[] =>
  inOrder<Payout, PayoutEvent>(state, evolvePayout, [
    (payout) => openSecondPayouts(payout, [observed]),
    (payout) =>
      isKnownBeside(payout, 'second_payout_found', observed.serviceToken)
        ? endDeferredAbout(payout, observed.serviceToken)
        : [],
  ]);

/**
 * Nothing of it is announced, and yet the service has a payout under its number: of another installation, or of ours, in a store whose
 * backup was restored. Sent, it may be paid a second time: also where it is declined there, which the service may revise.
 */
export const observeBeforeAnnouncement = (state: Payout, observed: ObservedPayout): PayoutEvent[] =>
  observed.orderNumber === undefined ? [] : observeAnother(state, observed);

/** Under our own number it is ours, as in a search by that number. */
function observeAwaited(state: Payout, observed: ObservedPayout, inquiredAt: number): PayoutEvent[] {
  if (observed.orderNumber === undefined) return [];
  if (!isOwnNumber(state, observed) || !mayBeOurs(state, observed)) return observeAnother(state, observed);
  const call = payoutInFlight(state);
  if (isAnswerDue(call, inquiredAt)) return [];
  return [
    ...leaveUnresolved(call, 'no outcome was recorded'),
    ...acceptPayout(state, observed, 'inquiry'),
    ...endDeferred(state, observed),
  ];
}

/**
 * False also of what a person has acknowledged as another one, which stays that, and of what is in review as another one of
 * other terms, which is a question already.
 */
function mayBeOurs(state: Payout, observed: ObservedPayout): boolean {
  const { call, acknowledged } = state;
  const reviews = agrees(state, observed) ? [] : state.reviews;
  return (
    mayBeMadeBy(call, observed) &&
    !isKnownBeside({ reviews, acknowledged }, 'second_payout_found', observed.serviceToken)
  );
}

/** Those that may be ours: what was asked for first, and of that what was paid out. */
export function byLikelihood(state: Payout, found: readonly ObservedPayout[]): ObservedPayout[] {
  const likelihood = (each: ObservedPayout) => (agrees(state, each) ? 3 : 0) + moneyIn(each.status);
  return found
    .filter((each) => mayBeOurs(state, each))
    .toSorted((one, other) => likelihood(other) - likelihood(one));
}

export const isOwnNumber = ({ call }: Payout, { orderNumber }: ObservedPayout): boolean =>
  (orderNumber ?? call.providerOrderNumber) === call.providerOrderNumber;

/** The awaited payout is there: it is taken for ours, and what it shows counts where it is what was asked for. */
export function acceptPayout(
  state: Payout,
  observed: ObservedPayout,
  evidence: PayoutEvidence,
): PayoutEvent[] {
  const { serviceToken } = observed;
  const accepted: PayoutEvent = { type: 'PayoutAccepted', data: { serviceToken, evidence } };
  return [accepted, ...observePayout(evolvePayout(state, accepted), observed)];
}

/** Deferred callbacks about it, or about nothing in particular, are answered by this. */
const endDeferred = (state: Payout, { serviceToken }: ObservedPayout): PayoutEvent[] =>
  endDeferredOfOwn(state, serviceToken);

/**
 * Events that make an accepted payout's status agree with what the service shows, or a review where it must not. A failed
 * payout has no token: what is shown under its number is taken for it.
 */
export function observePayout(state: Payout, observed: ObservedPayout): PayoutEvent[] {
  const status = payoutStatusSchema.safeParse(observed.status);
  if (!status.success)
    return openLatest(state, 'unknown_status', {
      observedStatus: observed.status,
      observedAmount: observed.amount,
      observedCurrency: observed.currency,
      observedServiceToken: observed.serviceToken,
    });
  if (!agrees(state, observed)) return openPayoutDisagreement(state, observed);
  const events = isFinalPayoutPhase(state.phase)
    ? observeFinal(state, observed, status.data)
    : observePending(observed, status.data);
  return events === undefined
    ? []
    : [...events, ...endDoubtsAfter(state, events, { serviceToken: observed.serviceToken, isOpenAgain })];
}

/** Money of another amount, currency or order is not this payout's: its status is not taken, a review opens. */
export const agrees = ({ terms, ...state }: Payout, observed: ObservedPayout): boolean =>
  observed.amount === terms.amount &&
  observed.currency === terms.currency &&
  (observed.orderNumber ?? state.call.providerOrderNumber) === state.call.providerOrderNumber;

/** Opens a review: what the service shows is not what was asked for. */
export const openPayoutDisagreement = (state: Payout, observed: ObservedPayout): PayoutEvent[] =>
  openLatest(state, 'terms_disagree', {
    amount: state.terms.amount,
    currency: state.terms.currency,
    providerOrderNumber: state.call.providerOrderNumber,
    observedStatus: observed.status,
    observedAmount: observed.amount,
    observedCurrency: observed.currency,
    observedOrderNumber: observed.orderNumber ?? null,
    observedServiceToken: observed.serviceToken,
  });

/** Of an approved one: what was declined is pending from then on. */
const isOpenAgain = ({ code, evidence }: Payout['reviews'][number]): boolean =>
  code === 'final_status_revised' && evidence['from'] === 'approved' && evidence['to'] === 'pending';

function observePending(observed: ObservedPayout, status: PayoutStatus): PayoutEvent[] {
  if (status === 'pending') return [];
  return [
    status === 'approved'
      ? { type: 'PayoutApproved', data: {} }
      : { type: 'PayoutDeclined', data: declineReasonOf(observed) },
  ];
}

/**
 * A payout that had not been paid out has the status that the service showed with the amount that holds, from the answer on: what went
 * out is taken for unpaid at no time. Of any other the next inquiry takes the status over.
 */
export function takeStatusShown(state: Payout, evidence: Evidence): PayoutEvent[] {
  const { observedStatus: status, observedServiceToken: serviceToken } = evidence;
  const to = payoutStatusSchema.safeParse(status).data;
  if (to === undefined || typeof serviceToken !== 'string') return [];
  return statusOfPayoutPhase(state.phase) === 'declined' ? revise(state, { serviceToken }, to) : [];
}

const declineReasonOf = ({ declineReason }: Pick<ObservedPayout, 'declineReason'>) =>
  omitUndefined({ declineReason: declineReason && cut(declineReason) });

/** Undefined of a picture from before it was final, which says nothing about doubts; nothing is older than what was never there. */
const observeFinal = (
  state: Payout,
  observed: ObservedPayout,
  status: PayoutStatus,
): PayoutEvent[] | undefined =>
  status === 'pending' && !isEndedWithoutService(state) ? undefined : revise(state, observed, status);

/**
 * What has ended is under way at the service, and that is no older picture. A declined one is pending again: its money may go out. What
 * was approved is in review: it counts as paid out until the service says how it ends.
 */
function observeOpenAgain(state: Payout, observation: RecordPayoutObservation): PayoutEvent[] {
  const { observed } = observation;
  const hasEnded = isFinalPayoutPhase(state.phase) && !isEndedWithoutService(state);
  const isAgain = hasEnded && observed.status === 'pending' && agrees(state, observed);
  if (!isAgain || mayBeOlder(observation)) return [];
  if (state.phase === 'approved') {
    const evidence = { from: 'approved', to: 'pending', serviceToken: observed.serviceToken };
    const alike = { ...state, reviews: state.reviews.filter(isOpenAgain) };
    return openReview<PayoutReviewCode>(alike, 'final_status_revised', evidence);
  }
  const events = revise(state, observed, 'pending');
  return [...events, ...endDoubtsAfter(state, events, { serviceToken: observed.serviceToken, isOpenAgain })];
}

function revise(
  state: Payout,
  observed: Pick<ObservedPayout, 'serviceToken' | 'declineReason'>,
  to: PayoutStatus,
): PayoutEvent[] {
  const from = statusOfPayoutPhase(state.phase) === 'approved' ? 'approved' : 'declined';
  if (to === from) return [];
  const { serviceToken } = observed;
  const token = state.serviceToken === undefined ? { serviceToken } : {};
  const reason = to === 'declined' ? declineReasonOf(observed) : {};
  return [
    { type: 'FinalStatusRevised', data: { from, to, ...reason, ...token } },
    // Each revision opens a review, even if a person acknowledged one like it.
    ...openInstead<PayoutReviewCode>(state, 'final_status_revised', { from, to, serviceToken }, serviceToken),
  ];
}

/** True where the payout ended without the service: it failed, or a person resolved it as undone. */
const isEndedWithoutService = ({ phase, declineReason }: Payout): boolean =>
  phase === 'failed' || declineReason === resolvedByAPerson;

/** Opens a review for each payout beside the known or awaited one, those that were paid out first: money may have gone out twice. */
export const openSecondPayouts = (state: Payout, others: readonly ObservedPayout[]): PayoutEvent[] =>
  inOrder(
    state,
    evolvePayout,
    others
      .toSorted((one, other) => moneyIn(other.status) - moneyIn(one.status))
      .map((other) => (payout: Payout) => openSecondPayout(payout, other)),
  );

function openSecondPayout(state: Payout, shown: ObservedPayout) {
  const { serviceToken, status, amount, currency } = shown;
  const { serviceToken: knownServiceToken = null, terms } = state;
  const other = currency !== terms.currency && { observedCurrency: currency };
  const observed = { serviceToken, observedStatus: status, observedAmount: amount, ...other };
  return openBeside<PayoutReviewCode>(
    state,
    'second_payout_found',
    { ...observed, knownServiceToken },
    ({ observedStatus }) => moneyIn(observedStatus),
  );
}

/** What was in doubt about others is in review as that, once it is known which one is ours. */
export const settleDoubtsBesidePayout = (state: Payout): PayoutEvent[] =>
  inOrder<Payout, PayoutEvent>(
    state,
    evolvePayout,
    shownBeside(state).map((shown) => (payout: Payout) => {
      const [serviceToken, { observedStatus, observedAmount, observedCurrency }] = shown;
      const events = openSecondPayout(payout, {
        serviceToken,
        status: String(observedStatus),
        amount: Number(observedAmount ?? payout.terms.amount),
        currency: String(observedCurrency ?? payout.terms.currency),
      });
      const code = 'second_payout_found';
      return settleBeside<PayoutReviewCode>(payout, shown, { code, events, ours: payout.call });
    }),
  );

/** Reviews of what the service shows under its number. */
export const shownCodes: readonly PayoutReviewCode[] = [
  'second_payout_found',
  'terms_disagree',
  'unknown_status',
];

/** Something is in review that the service shows under its number, and that is not known to be declined. */
export const mayBePaidOut = ({ reviews }: Pick<Payout, 'reviews'>): boolean =>
  reviews.some(({ code, evidence }) => shownCodes.includes(code) && moneyIn(evidence['observedStatus']) > 0);

/** 2 where it was paid out, 0 where it was not, 1 while it may be. Evidence of earlier releases has no status: it was what it was. */
function moneyIn(status: unknown): 0 | 1 | 2 {
  if (status === 'approved' || status === undefined) return 2;
  return status === 'declined' ? 0 : 1;
}
