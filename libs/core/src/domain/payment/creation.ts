/** The creation of a payment at the provider: request, attempts, and the search after a lost answer. */
import { events, refuse, type Decision } from '../decision.ts';
import { endDeferredAbout } from '../deferred-callback.ts';
import { endDiscrepancy, findDiscrepancy, isPaid, observeDiscrepancy, theirSide } from '../discrepancy.ts';
import { InvariantViolation } from '../invariant.ts';
import {
  callRules,
  endCall,
  mayBeMadeBy,
  originEvidence,
  refusedFor,
  settleCall,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import { isSameRequest } from '../request-fingerprint.ts';
import { openReview } from '../review.ts';
import { omitUndefined } from '../values.ts';
import { isUnderstood, observe, observePayment, ourSide, statusOf } from './observation.ts';
import type {
  Authorization,
  ObservedPayment,
  PaymentRefusal,
  RecordAuthorizationOutcome,
  RecordObservation,
  RecordSearch,
  RequestPayment,
} from './payment-commands.ts';
import type { Attempt, PaymentEvent } from './payment-events.ts';
import { inSteps } from './payment-evolve.ts';
import { isPaymentAwaited, type Payment, type PaymentState } from './payment-state.ts';

// The replay check comes first: the same terms write nothing, other terms under the same key are refused.
export function requestPayment(
  state: PaymentState,
  request: RequestPayment,
): Decision<PaymentEvent, PaymentRefusal> {
  const { type: _, earlierFingerprints: __, ...data } = request;
  if (state === undefined) return events({ type: 'PaymentRequested', data });
  return isSameRequest(state, request) ? events() : refuse({ code: 'idempotency_key_reused' });
}

const attemptInFlight = (
  state: Payment,
  nextAttempt: Attempt | undefined,
): CallInFlight<PaymentEvent, Authorization> => {
  const { number: attemptNumber, ...window } = state.attempt;
  return {
    ...window,
    // No customer received the page of an attempt without an outcome: another attempt needs no lasting absence.
    quietUntil: isPage(state) && nextAttempt !== undefined ? 0 : window.quietUntil,
    isUnresolved: state.phase === 'unresolved',
    unresolved: (reason, errors) => ({
      type: 'AttemptUnresolved',
      data: { attemptNumber, reason, ...omitUndefined({ errors }) },
    }),
    accepted: (answer) => [accept(attemptNumber, answer, 'answer'), ...compareAnswer(state, answer)],
    refused: ({ errors, isAccountRefused }) => [
      { type: 'AttemptRefused', data: { attemptNumber, errors } },
      ...attemptAgain(state, isAccountRefused === true ? nextAttempt : undefined, 'refused'),
    ],
    notSent: (reason) => [
      { type: 'AttemptNotSent', data: { attemptNumber, reason } },
      ...attemptAgain(state, nextAttempt, 'not-sent'),
    ],
  };
};

export function recordAuthorizationOutcome(
  state: Payment,
  { attemptNumber, outcome, nextAttempt }: RecordAuthorizationOutcome,
): PaymentEvent[] {
  if (isAwaited(state, attemptNumber)) {
    const ended = endCall(attemptInFlight(state, nextAttempt), outcome);
    const isFollowed = outcome.kind === 'unknown' && isPage(state) && nextAttempt !== undefined;
    return isFollowed ? [...ended, ...attemptAgain(state, nextAttempt, 'not-found')] : ended;
  }
  // An inquiry was faster, or the attempt is past: the inquiry holds. It has a status; the answer has none.
  if (outcome.kind !== 'accepted' || findDiscrepancy(state, outcome.serviceToken) !== undefined) return [];
  return observeDuplicate(state, observedIn(state, outcome));
}

/** True if the customer pays on a page that is handed out once the creation is accepted; a charge has no page to withhold. */
const isPage = ({ terms }: Payment): boolean => terms.kind === 'hosted';

/** True while the outcome of this attempt is needed. */
const isAwaited = (state: Payment, attemptNumber: number): boolean =>
  isPaymentAwaited(state) && state.attempt.number === attemptNumber;

const observedIn = (
  { terms }: Payment,
  { serviceToken, amount = terms.amount, currency = terms.currency }: Authorization,
): ObservedPayment => ({ serviceToken, status: 'init', amount, currency });

/** A second payment under one of our order numbers. One that took no money, and no longer can, is not a duplicate. */
function observeDuplicate(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  const { serviceToken } = observed;
  if (state.serviceToken === serviceToken) return [];
  if (!mayTakeMoney(state, observed.status, observed.authorizedAmount))
    return endDiscrepancy(state, serviceToken);
  return observeDiscrepancy(state, {
    kind: 'second_payment_found',
    operation: 'payment',
    serviceToken,
    ours: null,
    theirs: theirSide(observed),
  });
}

/** No customer can pay on a page that was never handed out; a card may still be charged. */
function mayTakeMoney(
  { terms }: Pick<Payment, 'terms'>,
  status: string,
  authorizedAmount?: number | null,
): boolean {
  if ((authorizedAmount ?? 0) > 0) return true;
  return status === 'init' ? terms.kind !== 'hosted' : status !== 'declined' && status !== 'expired';
}

/** The provider shows a payment under its number that has taken money, or still may. */
export const mayBePaid = ({ discrepancies, terms }: Pick<Payment, 'discrepancies' | 'terms'>): boolean =>
  discrepancies.some(
    ({ theirs, state }) =>
      state === 'open' &&
      theirs !== null &&
      statusOf(theirs) !== 'refunded' &&
      mayTakeMoney({ terms }, theirs.status, theirs.authorizedAmount),
  );

export function recordSearch(state: Payment, search: RecordSearch): PaymentEvent[] {
  const { attemptNumber, inquiredAt, nextAttempt, found } = search;
  const own = ofAttempt(state, search);
  if (!isAwaited(state, attemptNumber)) return recordLateSearch(state, own, search);
  return settleCall<PaymentEvent>(attemptInFlight(state, nextAttempt), {
    inquiredAt,
    effect: effectOf(state, own, search),
    // The answer concerns other orders, so it proves no absence.
    absent: () => giveUpAttempt(state, search, own[0] ?? found[0]),
  });
}

/** The search came too late: a payment that failed here disagrees, any other is a duplicate. */
const recordLateSearch = (
  state: Payment,
  own: readonly ObservedPayment[],
  { attemptNumber, inquiredAt }: RecordSearch,
): PaymentEvent[] =>
  inSteps(
    state,
    ...own.map((observed) => (payment: Payment) => {
      const { phase, attempt } = payment;
      const isOurs = phase === 'failed' && attempt.number === attemptNumber && mayBeMadeBy(attempt, observed);
      return isOurs
        ? observePayment(payment, { observed, inquiredAt, changedAt: inquiredAt })
        : observeDuplicate(payment, observed);
    }),
  );

/** Operations found under the attempt's number. The number of a past attempt is not kept: all of them may belong to it. */
function ofAttempt({ attempt }: Payment, { attemptNumber, found }: RecordSearch): readonly ObservedPayment[] {
  const { number, providerOrderNumber } = attempt;
  if (attemptNumber !== number) return found;
  return found.filter(({ orderNumber }) => (orderNumber ?? providerOrderNumber) === providerOrderNumber);
}

function effectOf(
  state: Payment,
  own: readonly ObservedPayment[],
  { attemptNumber, inquiredAt }: RecordSearch,
): PaymentEvent[] | undefined {
  const first = likeliestOf(state, own);
  if (first === undefined) return undefined;
  return inSteps(
    state,
    () => [accept(attemptNumber, first, 'inquiry')],
    (payment) => observePayment(payment, { observed: first, inquiredAt, changedAt: inquiredAt }),
    ...own.map((each) => (payment: Payment) => observeDuplicate(payment, each)),
  );
}

/** The best match of those that the attempt may have made: our terms first, then the one whose money moved, or may. */
export function likeliestOf(state: Payment, found: readonly ObservedPayment[]): ObservedPayment | undefined {
  // A failed payment matches with any amount.
  const isAskedFor = (each: ObservedPayment) =>
    isUnderstood(state, each) && each.amount === state.terms.amount;
  const likelihood = (each: ObservedPayment) => (isAskedFor(each) ? 4 : 0) + chargeIn(each);
  return found
    .filter((each) => mayBeMadeBy(state.attempt, each))
    .toSorted((one, other) => likelihood(other) - likelihood(one))[0];
}

/** 3 if taken, 2 if authorized, 0 if it never will be, else 1. */
function chargeIn(observed: ObservedPayment): 0 | 1 | 2 | 3 {
  if (isPaid(observed)) return 3;
  if ((observed.authorizedAmount ?? 0) > 0) return 2;
  return observed.status === 'declined' || observed.status === 'expired' ? 0 : 1;
}

/**
 * A refusal is confirmed. Otherwise only a hosted payment may be attempted again: a card may have been charged.
 *
 * @param stranger found, but not made by the attempt; a person decides before anything is sent
 */
function giveUpAttempt(
  state: Payment,
  { attemptNumber, nextAttempt }: RecordSearch,
  stranger: ObservedPayment | undefined,
): PaymentEvent[] {
  const { phase, errors, attempt } = state;
  if (phase === 'unresolved' && errors.length > 0 && stranger === undefined)
    return attemptInFlight(state, nextAttempt).refused(refusedFor(errors));
  const { providerOrderNumber } = attempt;
  if (!isPage(state) || stranger !== undefined)
    return openReview(state, callRules.authorize.review, {
      attemptNumber,
      providerOrderNumber,
      ...(stranger && originEvidence(stranger)),
    });
  return [
    { type: 'AttemptNotFound', data: { attemptNumber } },
    ...attemptAgain(state, nextAttempt, 'not-found'),
  ];
}

/** A payment was retrieved by the provider's token: ours, or a duplicate. */
export function recordObservation(state: Payment, observation: RecordObservation): PaymentEvent[] {
  const { observed } = observation;
  const { providerOrderNumber } = state.attempt;
  const isOwnNumber = (observed.orderNumber ?? providerOrderNumber) === providerOrderNumber;
  // The current search finds the current attempt's payment; another attempt's is a duplicate.
  if (isPaymentAwaited(state) && isOwnNumber) return [];
  const isOurs =
    state.serviceToken === undefined
      ? !isPaymentAwaited(state) && isOwnNumber && mayBeMadeBy(state.attempt, observed)
      : state.serviceToken === observed.serviceToken;
  if (isOurs) return observe(state, observation);
  return [...observeDuplicate(state, observed), ...endDeferredAbout(state, observed.serviceToken)];
}

function attemptAgain(
  state: Payment,
  attempt: Attempt | undefined,
  reason: 'refused' | 'not-sent' | 'not-found',
): PaymentEvent[] {
  if (attempt === undefined || attempt.number > callRules.authorize.attemptsMax)
    return [{ type: 'PaymentFailed', data: { reason } }];
  if (attempt.number !== state.attempt.number + 1)
    throw new InvariantViolation('attempts must be numbered one after the other');
  return [{ type: 'AttemptStarted', data: { attempt } }];
}

const accept = (
  attemptNumber: number,
  { serviceToken, processingUrl }: Authorization,
  evidence: 'answer' | 'inquiry',
): PaymentEvent => ({
  type: 'AttemptAccepted',
  data: { attemptNumber, serviceToken, ...omitUndefined({ processingUrl }), evidence },
});

/** The answer may show other terms than requested. */
function compareAnswer(state: Payment, answer: Authorization): PaymentEvent[] {
  const { amount, currency } = state.terms;
  const { serviceToken, ...observed } = observedIn(state, answer);
  if (observed.amount === amount && observed.currency === currency) return [];
  return observeDiscrepancy(state, {
    kind: 'terms_disagree',
    operation: 'payment',
    serviceToken,
    ours: ourSide(state),
    theirs: theirSide(observed),
  });
}
