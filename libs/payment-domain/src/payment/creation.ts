/** The creation of a payment at the service: requested, attempted, and found again where its answer was lost. */
import { events, inOrder, refuse, type Decision } from '../decision.ts';
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
import { openReview, type Evidence } from '../review.ts';
import { isKnownBeside, openBeside, settleBeside, shownBeside } from '../review-beside.ts';
import { omitUndefined } from '../values.ts';
import { isUnderstood, observePayment, openDisagreement, statusOf, wasApproved } from './observation.ts';
import type {
  Authorization,
  ObservedPayment,
  PaymentRefusal,
  RecordAuthorizationOutcome,
  RecordSearch,
  RequestPayment,
} from './payment-commands.ts';
import type { Attempt, PaymentEvent, ReviewCode } from './payment-events.ts';
import { evolve, isPaymentAwaited, type Payment, type PaymentState } from './payment-state.ts';
import { observeRefunds } from './refunds.ts';

// The replay check comes first: the same terms again write nothing, other terms under the same key are refused.
export function requestPayment(
  state: PaymentState,
  request: RequestPayment,
): Decision<PaymentEvent, PaymentRefusal> {
  const { type: _, earlierFingerprints: __, ...data } = request;
  if (state === undefined) return events({ type: 'PaymentRequested', data });
  return isSameRequest(state, request) ? events() : refuse({ code: 'idempotency_key_reused' });
}

/** The current attempt as a call in flight. */
const attemptInFlight = (
  state: Payment,
  nextAttempt: Attempt | undefined,
): CallInFlight<PaymentEvent, Authorization> => {
  const { number: attemptNumber, ...window } = state.attempt;
  return {
    ...window,
    // Nobody was given the page of an attempt without an outcome: its absence need not last for another one.
    quietUntil: isPage(state) && nextAttempt !== undefined ? 0 : window.quietUntil,
    isUnresolved: state.phase === 'unresolved',
    unresolved: (reason, errors) => ({
      type: 'AttemptUnresolved',
      data: { attemptNumber, reason, ...omitUndefined({ errors }) },
    }),
    accepted: (answer) => [accept(attemptNumber, answer, 'answer'), ...disagreement(state, answer)],
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
  // An inquiry was faster, or the attempt is past: what it found stands.
  return outcome.kind === 'accepted' ? openSecondPayment(state, outcome, attemptNumber) : [];
}

/** True if the customer pays on a page that is given once its creation was accepted: a charge has none to withhold. */
const isPage = ({ terms }: Payment): boolean => terms.kind === 'hosted';

/** True while the outcome of just this attempt is wanted. */
const isAwaited = (state: Payment, attemptNumber: number): boolean =>
  isPaymentAwaited(state) && state.attempt.number === attemptNumber;

/**
 * A payment beside ours opens a review.
 *
 * @param shown by an inquiry, or by the answer to the call that made it, which has no status
 */
function openSecondPayment(
  state: Payment,
  shown: ObservedPayment | Authorization,
  attemptNumber: number,
): PaymentEvent[] {
  const { serviceToken } = shown;
  const { serviceToken: knownServiceToken = null } = state;
  if (knownServiceToken === serviceToken) return [];
  // No customer was given the page of an earlier attempt. Until it takes money, there is nothing to decide.
  if (attemptNumber < state.attempt.number && isUnpaidPage(state, shown)) return [];
  const evidence = { attemptNumber, serviceToken, knownServiceToken, ...moneyOf(shown) };
  return openBeside<ReviewCode>(state, 'second_payment_found', evidence, moneyIn);
}

const isUnpaidPage = ({ terms }: Payment, shown: ObservedPayment | Authorization): boolean =>
  terms.kind === 'hosted' &&
  (!('status' in shown) || ['init', 'expired', 'declined'].includes(statusOf(shown)));

/** What was in doubt about others is in review as that, once it is known which one is ours. */
export const settleDoubtsBeside = (state: Payment): PaymentEvent[] =>
  inOrder<Payment, PaymentEvent>(
    state,
    evolve,
    shownBeside(state).map((shown) => (payment: Payment) => {
      const { attempt, serviceToken: knownServiceToken = null } = payment;
      const [serviceToken, evidence] = shown;
      const { observedAuthorizedAmount = 0 } = evidence;
      const known = { attemptNumber: attempt.number, serviceToken, knownServiceToken };
      const money = { observedStatus: statusShownIn(evidence), observedAuthorizedAmount };
      const code = 'second_payment_found';
      const events = openBeside<ReviewCode>(payment, code, { ...known, ...money }, moneyIn);
      return settleBeside<ReviewCode>(payment, shown, { code, events, ours: attempt });
    }),
  );

const statusShownIn = ({ observedStatus, to, observedAmount, observedRefundedAmount }: Evidence): string =>
  statusOf({
    status: String(observedStatus ?? to),
    amount: Number(observedAmount ?? 0),
    refundedAmount: Number(observedRefundedAmount ?? 0),
  });

const moneyOf = (shown: ObservedPayment | Authorization) =>
  'status' in shown
    ? { observedStatus: statusOf(shown), observedAuthorizedAmount: shown.authorizedAmount ?? null }
    : {};

/** 2 where money is taken, 1 where it is held, else 0: also where it went back. */
function moneyIn({ observedStatus, observedAuthorizedAmount }: Evidence): 0 | 1 | 2 {
  if (observedStatus === 'approved') return 2;
  return Number(observedAuthorizedAmount ?? 0) > 0 ? 1 : 0;
}

/** Reviews of what the service shows under its number. */
export const shownCodes: readonly ReviewCode[] = ['second_payment_found', 'terms_disagree', 'unknown_status'];
const tookNoMoney: readonly string[] = ['declined', 'expired', 'refunded'];

/** Something is in review that the service shows under its number, and that has taken money, or still may. */
export const mayBePaid = ({ reviews, terms }: Pick<Payment, 'reviews' | 'terms'>): boolean =>
  reviews.some(({ code, evidence: { observedStatus = 'init', to } }) => {
    // It has ended here, and is open again there.
    if (code === 'final_status_revised') return to === 'pending' || to === 'init';
    if (!shownCodes.includes(code)) return false;
    // Nobody can pay on a page that was never handed out; a card may be charged yet. An answer shows no status.
    return observedStatus === 'init'
      ? terms.kind !== 'hosted'
      : !tookNoMoney.includes(String(observedStatus));
  });

/** True where a review was opened for this payment beside ours. */
export const isSecondPayment = (state: Payment, serviceToken: string): boolean =>
  isKnownBeside(state, 'second_payment_found', serviceToken);

export function recordSearch(state: Payment, search: RecordSearch): PaymentEvent[] {
  const { attemptNumber, inquiredAt, nextAttempt } = search;
  const own = ofAttempt(state, search);
  if (!isAwaited(state, attemptNumber)) return recordLateSearch(state, own, search);
  return settleCall<PaymentEvent>(attemptInFlight(state, nextAttempt), {
    inquiredAt,
    effect: effectOf(state, own, search),
    absent: () => giveUpAttempt(state, search, own[0]),
  });
}

/**
 * The search is too late to be needed. A failed payment was approved after all where that is found of its attempt; any other
 * unknown payment is a second one.
 */
const recordLateSearch = (
  state: Payment,
  own: readonly ObservedPayment[],
  { attemptNumber, inquiredAt }: RecordSearch,
): PaymentEvent[] =>
  inOrder<Payment, PaymentEvent>(state, evolve, [
    (payment) => {
      const hasFailed = payment.phase === 'failed' && payment.attempt.number === attemptNumber;
      const made = likeliestOf(payment, own.filter(wasApproved));
      return hasFailed && made !== undefined ? observeFound(payment, made, inquiredAt) : [];
    },
    ...own.map((each) => (payment: Payment) => openSecondPayment(payment, each, attemptNumber)),
  ]);

/** The status, and what has gone back already. */
const observeFound = (state: Payment, observed: ObservedPayment, inquiredAt: number): PaymentEvent[] =>
  inOrder<Payment, PaymentEvent>(state, evolve, [
    (payment) => observePayment(payment, observed),
    (payment) => observeRefunds(payment, { observed, inquiredAt }, isUnderstood(state, observed)),
  ]);

/** What was found under the attempt's own number. The number of a past attempt is not kept: all of it may be its. */
function ofAttempt({ attempt }: Payment, { attemptNumber, found }: RecordSearch): readonly ObservedPayment[] {
  const { number, providerOrderNumber } = attempt;
  if (attemptNumber !== number) return found;
  return found.filter(({ orderNumber }) => (orderNumber ?? providerOrderNumber) === providerOrderNumber);
}

function effectOf(
  state: Payment,
  own: readonly ObservedPayment[],
  { attemptNumber, found: [foreign], inquiredAt }: RecordSearch,
): PaymentEvent[] | undefined {
  // An answer about other orders than the one asked for proves nothing about ours.
  if (own.length === 0) return foreign && openDisagreement(state, foreign);
  const first = likeliestOf(state, own);
  if (first === undefined) return undefined;
  return inOrder<Payment, PaymentEvent>(state, evolve, [
    () => [accept(attemptNumber, first, 'inquiry')],
    (payment) => observeFound(payment, first, inquiredAt),
    ...own.map((each) => (payment: Payment) => openSecondPayment(payment, each, attemptNumber)),
  ]);
}

/** Of those that the attempt may have made the one that is what was asked for, and of these the one whose money moved, or may. */
export function likeliestOf(state: Payment, found: readonly ObservedPayment[]): ObservedPayment | undefined {
  // Of one that has failed any amount is understood.
  const isAskedFor = (each: ObservedPayment) =>
    isUnderstood(state, each) && each.amount === state.terms.amount;
  const likelihood = (each: ObservedPayment) => (isAskedFor(each) ? 4 : 0) + chargeIn(each);
  return found
    .filter((each) => mayBeMadeBy(state.attempt, each))
    .toSorted((one, other) => likelihood(other) - likelihood(one))[0];
}

/** 3 where it is taken, 2 where it is held, 0 where it never will be, else 1. */
function chargeIn(observed: ObservedPayment): 0 | 1 | 2 | 3 {
  if (wasApproved(observed)) return 3;
  if ((observed.authorizedAmount ?? 0) > 0) return 2;
  return observed.status === 'declined' || observed.status === 'expired' ? 0 : 1;
}

/**
 * A refusal is confirmed. Otherwise only a hosted payment may be attempted again: a card may have been charged.
 *
 * @param stranger has our number, and the attempt cannot have made it; a person looks at it before anything is sent
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
      ...{ attemptNumber, providerOrderNumber },
      ...(stranger && originEvidence(stranger)),
    });
  return [
    { type: 'AttemptNotFound', data: { attemptNumber } },
    ...attemptAgain(state, nextAttempt, 'not-found'),
  ];
}

/**
 * A review of a payment beside the one that is known or awaited; undefined where the observed one is the known one, and
 * what it says counts.
 */
export function sightingOfAnother(state: Payment, observed: ObservedPayment): PaymentEvent[] | undefined {
  const { number, providerOrderNumber } = state.attempt;
  if (isAwaited(state, number)) {
    // The search that is under way finds the current attempt's payment; another attempt's is one too many.
    const isOther = observed.orderNumber !== undefined && observed.orderNumber !== providerOrderNumber;
    return isOther ? openSecondPayment(state, observed, number) : [];
  }
  const { serviceToken = observed.serviceToken, attempt } = state;
  const mayBeOurs =
    mayBeMadeBy(attempt, observed) && (observed.orderNumber ?? providerOrderNumber) === providerOrderNumber;
  const isKnown = serviceToken === observed.serviceToken && (state.serviceToken !== undefined || mayBeOurs);
  return isKnown ? undefined : openSecondPayment(state, observed, number);
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

function disagreement(state: Payment, accepted: Authorization): PaymentEvent[] {
  const { amount, currency } = state.terms;
  const agrees = (accepted.amount ?? amount) === amount && (accepted.currency ?? currency) === currency;
  if (agrees) return [];
  return openReview(state, 'terms_disagree', {
    ...{ amount, currency },
    observedAmount: accepted.amount ?? null,
    observedCurrency: accepted.currency ?? null,
  });
}
