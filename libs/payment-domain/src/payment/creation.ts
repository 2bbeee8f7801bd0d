/** The creation of a payment at the service: requested, attempted, and found again where its answer was lost. */
import { events, refuse, type Decision } from '../decision.ts';
import { InvariantViolation } from '../invariant.ts';
import {
  callRules,
  endCall,
  mayBeMadeBy,
  originEvidence,
  settleCall,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import { isSameRequest } from '../request-fingerprint.ts';
import { isAbout, openReview } from '../review.ts';
import { present } from '../values.ts';
import { observePayment, openDisagreement } from './observation.ts';
import type {
  Authorization,
  ObservedPayment,
  PaymentRefusal,
  RecordAuthorizationOutcome,
  RecordSearch,
  RequestPayment,
} from './payment-commands.ts';
import type { Attempt, PaymentEvent } from './payment-events.ts';
import { evolve, isPaymentAwaited, type Payment, type PaymentState } from './payment-state.ts';

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
    isUnresolved: state.phase === 'unresolved',
    unresolved: (reason) => ({ type: 'AttemptUnresolved', data: { attemptNumber, reason } }),
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
  if (isAwaited(state, attemptNumber)) return endCall(attemptInFlight(state, nextAttempt), outcome);
  // An inquiry was faster, or the attempt is past: what it found stands.
  return outcome.kind === 'accepted' ? openSecondPayment(state, outcome.serviceToken, attemptNumber) : [];
}

/** True while the outcome of just this attempt is wanted. */
const isAwaited = (state: Payment, attemptNumber: number): boolean =>
  isPaymentAwaited(state) && state.attempt.number === attemptNumber;

/** Reviews of payments beside the known one at most; more add nothing. */
const secondPaymentsMax = 10;

function openSecondPayment(state: Payment, serviceToken: string, attemptNumber: number): PaymentEvent[] {
  if (state.serviceToken === serviceToken) return [];
  if (secondPayments(state).length >= secondPaymentsMax || isSecondPayment(state, serviceToken)) return [];
  const evidence = { attemptNumber, serviceToken, knownServiceToken: state.serviceToken ?? null };
  // Each has evidence of its own, so each opens a review, even while another is open.
  return openReview({ reviews: [], acknowledged: [] }, 'second_payment_found', evidence);
}

const secondPayments = ({ reviews, acknowledged }: Payment) =>
  [...reviews, ...acknowledged].filter(({ code }) => code === 'second_payment_found');

/** True where a review was opened for this payment beside ours. */
export const isSecondPayment = (state: Payment, serviceToken: string): boolean =>
  secondPayments(state).some((each) => isAbout(each, 'serviceToken', serviceToken));

export function recordSearch(state: Payment, search: RecordSearch): PaymentEvent[] {
  const { attemptNumber, inquiredAt, nextAttempt } = search;
  const own = ofAttempt(state, search);
  // Too late to be needed, yet an unknown payment is a second one.
  if (!isAwaited(state, attemptNumber)) {
    const unknown = own.find(({ serviceToken }) => serviceToken !== state.serviceToken);
    return unknown === undefined ? [] : openSecondPayment(state, unknown.serviceToken, attemptNumber);
  }
  return settleCall<PaymentEvent>(attemptInFlight(state, nextAttempt), {
    inquiredAt,
    effect: effectOf(state, own, search),
    absent: () => giveUpAttempt(state, search, own[0]),
  });
}

/** What was found under the attempt's own number. The number of a past attempt is not kept: all of it may be its. */
function ofAttempt({ attempt }: Payment, { attemptNumber, found }: RecordSearch): readonly ObservedPayment[] {
  const { number, providerOrderNumber } = attempt;
  if (attemptNumber !== number) return found;
  return found.filter(({ orderNumber }) => (orderNumber ?? providerOrderNumber) === providerOrderNumber);
}

function effectOf(
  state: Payment,
  own: readonly ObservedPayment[],
  { attemptNumber, found: [foreign] }: RecordSearch,
): PaymentEvent[] | undefined {
  // An answer about other orders than the one asked for proves nothing about ours.
  if (own.length === 0) return foreign && openDisagreement(state, foreign);
  const first = own.find((each) => mayBeMadeBy(state.attempt, each));
  if (first === undefined) return undefined;
  const accepted = accept(attemptNumber, first, 'inquiry');
  const payment = evolve(state, accepted);
  const second = own.find(({ serviceToken }) => serviceToken !== first.serviceToken);
  return [
    accepted,
    ...observePayment(payment, first),
    ...(second === undefined ? [] : openSecondPayment(payment, second.serviceToken, attemptNumber)),
  ];
}

/**
 * Only a hosted payment may be attempted again: a card may have been charged.
 *
 * @param stranger has our number, and the attempt cannot have made it; a person looks at it before anything is sent
 */
function giveUpAttempt(
  state: Payment,
  { attemptNumber, nextAttempt }: RecordSearch,
  stranger: ObservedPayment | undefined,
): PaymentEvent[] {
  const { providerOrderNumber } = state.attempt;
  if (state.terms.kind !== 'hosted' || stranger !== undefined)
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
    return isOther ? openSecondPayment(state, observed.serviceToken, number) : [];
  }
  const { serviceToken = observed.serviceToken, attempt } = state;
  const isKnown =
    serviceToken === observed.serviceToken &&
    (state.serviceToken !== undefined || mayBeMadeBy(attempt, observed));
  return isKnown ? undefined : openSecondPayment(state, observed.serviceToken, number);
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
  data: { attemptNumber, serviceToken, ...present({ processingUrl }), evidence },
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
