/** What the service shows of a payout, and what it tells that we did not know. A look that finds no change gives no event. */
import { isAbout, openReview, resolveOpen } from '../review.ts';
import { textLengthMax } from '../payment/payment-events.ts';
import { endUnappliedAbout, endUnappliedOfOwn } from '../unapplied-callback.ts';
import type { ObservedPayout, RecordPayoutObservation } from './payout-commands.ts';
import { payoutStatusSchema, type PayoutEvent, type PayoutStatus } from './payout-events.ts';
import { isFinalPayoutPhase, statusOfPayoutPhase } from './payout-machine.ts';
import { evolvePayout, isPayoutAwaited, resolvedByAPerson, type Payout } from './payout-state.ts';

/** What a retrieval leads to, whichever payout it is of. */
export function recordPayoutObservation(
  state: Payout,
  { observed, inquiredAt }: RecordPayoutObservation,
): PayoutEvent[] {
  if (isPayoutAwaited(state)) return observeAwaited(state, observed, inquiredAt);
  if (state.serviceToken !== undefined && state.serviceToken !== observed.serviceToken)
    return observeAnother(state, observed);
  return [...observePayout(state, observed), ...endUnapplied(state, observed)];
}

/** A person has that payout before them: whatever a callback told about it is part of the matter. */
function observeAnother(state: Payout, observed: ObservedPayout): PayoutEvent[] {
  const events = raiseSecondPayouts(state, [observed]);
  const after = events.reduce<Payout>(evolvePayout, state);
  const { serviceToken } = observed;
  const isKnown = secondPayouts(after).some((each) => isAbout(each, 'serviceToken', serviceToken));
  return isKnown ? [...events, ...endUnappliedAbout(after, serviceToken)] : events;
}

/** Under our own number it is ours: as good as a look by that number. */
function observeAwaited(state: Payout, observed: ObservedPayout, inquiredAt: number): PayoutEvent[] {
  if (observed.orderNumber === undefined) return [];
  if (!isOwnNumber(state, observed)) return observeAnother(state, observed);
  if (isAnswerDue(state, inquiredAt)) return [];
  const events = giveUpWaiting(state, 'no outcome was recorded');
  const accepted = acceptPayout(events.reduce<Payout>(evolvePayout, state), observed, 'inquiry');
  return [...events, ...accepted, ...endUnapplied(state, observed)];
}

/** Whoever announced the call may still be waiting for its answer, which tells more than a look. */
export const isAnswerDue = ({ phase, call }: Payout, inquiredAt: number): boolean =>
  phase === 'requested' && inquiredAt < call.answerBy;

export const giveUpWaiting = ({ phase }: Payout, reason: string): PayoutEvent[] =>
  phase === 'requested'
    ? [{ type: 'PayoutUnresolved', data: { reason: reason.slice(0, textLengthMax) } }]
    : [];

export const isOwnNumber = ({ call }: Payout, { orderNumber }: ObservedPayout): boolean =>
  (orderNumber ?? call.providerOrderNumber) === call.providerOrderNumber;

/** The awaited payout is there: it is taken for ours, and what it shows counts where it is what was asked for. */
export function acceptPayout(
  state: Payout,
  observed: ObservedPayout,
  evidence: 'answer' | 'inquiry',
): PayoutEvent[] {
  const { serviceToken } = observed;
  const accepted: PayoutEvent = { type: 'PayoutAccepted', data: { serviceToken, evidence } };
  return [accepted, ...observePayout(evolvePayout(state, accepted), observed)];
}

/** Whatever a callback was about that could not be applied: the service has been asked since. */
const endUnapplied = (state: Payout, { serviceToken }: ObservedPayout): PayoutEvent[] =>
  endUnappliedOfOwn(state, serviceToken, 'the service was asked later');

/**
 * Events that make an accepted payout's status agree with what the service shows of it, or that call a person where it must
 * not. A failed payout has no token: whatever is shown under its number is taken for it.
 */
export function observePayout(state: Payout, observed: ObservedPayout): PayoutEvent[] {
  const status = payoutStatusSchema.safeParse(observed.status);
  if (!status.success)
    return openReview(state, 'unknown_status', {
      observedStatus: observed.status,
      observedServiceToken: observed.serviceToken,
    });
  if (!agrees(state, observed)) return raiseDisagreement(state, observed);
  const events = isFinalPayoutPhase(state.phase)
    ? observeFinal(state, observed, status.data)
    : observePending(observed, status.data);
  return [...events, ...endDoubts(state)];
}

/** Money of another amount, currency or order is not this payout's: its status is not taken, a person looks. */
const agrees = ({ terms, ...state }: Payout, observed: ObservedPayout): boolean =>
  observed.amount === terms.amount &&
  observed.currency === terms.currency &&
  (observed.orderNumber ?? state.call.providerOrderNumber) === state.call.providerOrderNumber;

/** Calls a person: what the service shows is not what was asked for. */
export const raiseDisagreement = (state: Payout, observed: ObservedPayout): PayoutEvent[] =>
  openReview(state, 'terms_disagree', {
    amount: state.terms.amount,
    currency: state.terms.currency,
    providerOrderNumber: state.call.providerOrderNumber,
    observedStatus: observed.status,
    observedAmount: observed.amount,
    observedCurrency: observed.currency,
    observedOrderNumber: observed.orderNumber ?? null,
    observedServiceToken: observed.serviceToken,
  });

/** The service shows what was asked for, and it is understood: whatever it showed before is over. */
const endDoubts = (state: Payout): PayoutEvent[] =>
  (['service_payout_missing', 'terms_disagree', 'unknown_status'] as const).flatMap((code) =>
    resolveOpen(state, code, 'found', 'the service told later'),
  );

function observePending(observed: ObservedPayout, status: PayoutStatus): PayoutEvent[] {
  if (status === 'pending') return [];
  return [
    status === 'approved'
      ? { type: 'PayoutApproved', data: {} }
      : { type: 'PayoutDeclined', data: declineReasonOf(observed) },
  ];
}

const declineReasonOf = ({ declineReason }: ObservedPayout) =>
  declineReason === undefined ? {} : { declineReason: declineReason.slice(0, textLengthMax) };

function observeFinal(state: Payout, observed: ObservedPayout, to: PayoutStatus): PayoutEvent[] {
  const from = statusOfPayoutPhase(state.phase) === 'approved' ? 'approved' : 'declined';
  // A picture that is older than the final state does not take it back; nothing is older than what was never there.
  if (to === from || (to === 'pending' && !isEndedWithoutService(state))) return [];
  const { serviceToken } = observed;
  const token = state.serviceToken === undefined ? { serviceToken } : {};
  const reason = to === 'declined' ? declineReasonOf(observed) : {};
  // Each revision is a finding of its own, also one of a kind that a person has acknowledged before.
  const raised = openReview({ ...state, acknowledged: [] }, 'final_status_revised', {
    from,
    to,
    serviceToken,
  });
  return [{ type: 'FinalStatusRevised', data: { from, to, ...reason, ...token } }, ...raised];
}

/** True where the payout ended without a word of the service: it failed, or a person said that it was undone. */
const isEndedWithoutService = ({ phase, declineReason }: Payout): boolean =>
  phase === 'failed' || declineReason === resolvedByAPerson;

/** Payouts beside the known one that are brought before a person at most; more tell nothing new. */
const secondPayoutsMax = 10;

/** Calls a person for each payout beside the known or awaited one: money may have gone out twice. */
export function raiseSecondPayouts(state: Payout, others: readonly ObservedPayout[]): PayoutEvent[] {
  const known = new Set(secondPayouts(state).map(({ evidence }) => evidence['serviceToken']));
  const events: PayoutEvent[] = [];
  for (const { serviceToken, status } of others) {
    if (known.has(serviceToken) || known.size >= secondPayoutsMax) continue;
    known.add(serviceToken);
    const evidence = { serviceToken, observedStatus: status, knownServiceToken: state.serviceToken ?? null };
    // Each has evidence of its own, so each is raised, also while another is open.
    events.push(...openReview({ reviews: [], acknowledged: [] }, 'second_payout_found', evidence));
  }
  return events;
}

const secondPayouts = ({ reviews, acknowledged }: Payout) =>
  [...reviews, ...acknowledged].filter(({ code }) => code === 'second_payout_found');
