/** The creation of a payment at the service: requested, attempted, and found again where its answer was lost. */
import type { ApiError } from '@tollgate/payment-api/values';
import { isAbout, openReview } from '../review.ts';
import type { Decision } from '../decision.ts';
import { InvariantViolation, unreachable } from '../invariant.ts';
import { observePayment, raiseDisagreement } from './observation.ts';
import type {
  ObservedPayment,
  PaymentRefusal,
  RecordCreationOutcome,
  RecordSearch,
  RequestPayment,
} from './payment-commands.ts';
import { errorsMax, textLengthMax, type Attempt, type PaymentEvent } from './payment-events.ts';
import { evolve, type Payment, type PaymentState } from './payment-state.ts';

/** Attempts per payment at most, whatever the reasons of the earlier ones. */
export const attemptsMax = 3;

// The replay check comes first: the same terms again write nothing, other terms under the same key are refused.
export function requestPayment(
  state: PaymentState,
  command: RequestPayment,
): Decision<PaymentEvent, PaymentRefusal> {
  if (state !== undefined) {
    return state.fingerprint === command.fingerprint
      ? { kind: 'events', events: [] }
      : { kind: 'refused', refusal: { code: 'idempotency_key_reused' } };
  }
  const { environment, team, terms, fingerprint, attempt } = command;
  return {
    kind: 'events',
    events: [{ type: 'PaymentRequested', data: { environment, team, terms, fingerprint, attempt } }],
  };
}

export function recordCreationOutcome(state: Payment, command: RecordCreationOutcome): PaymentEvent[] {
  const { attemptNumber, outcome, nextAttempt } = command;
  if (outcome.kind === 'accepted') return recordAccepted(state, command, outcome);
  // A look was faster, or the attempt is past: what it found stands.
  if (!isAwaited(state, attemptNumber)) return [];
  switch (outcome.kind) {
    case 'refused':
      return [
        { type: 'AttemptRefused', data: { attemptNumber, errors: outcome.errors.slice(0, errorsMax) } },
        ...goOn(state, isFaultOfAccount(outcome.errors) ? nextAttempt : undefined, 'refused'),
      ];
    case 'not-sent':
      return [
        { type: 'AttemptNotSent', data: { attemptNumber, reason: outcome.reason.slice(0, textLengthMax) } },
        ...goOn(state, nextAttempt, 'not-sent'),
      ];
    case 'unknown':
      if (state.phase === 'unresolved') return [];
      return [
        {
          type: 'AttemptUnresolved',
          data: { attemptNumber, reason: outcome.reason.slice(0, textLengthMax) },
        },
      ];
    default:
      return unreachable(outcome);
  }
}

type Accepted = Extract<RecordCreationOutcome['outcome'], { kind: 'accepted' }>;

function recordAccepted(state: Payment, command: RecordCreationOutcome, accepted: Accepted): PaymentEvent[] {
  const { attemptNumber } = command;
  if (!isAwaited(state, attemptNumber))
    return raiseSecondPayment(state, accepted.serviceToken, attemptNumber);
  return [
    accept(attemptNumber, accepted.serviceToken, accepted.processingUrl, 'answer'),
    ...disagreement(state, accepted),
  ];
}

/** True while the outcome of just this attempt is wanted. */
export const isAwaited = (state: Payment, attemptNumber: number): boolean =>
  (state.phase === 'requested' || state.phase === 'unresolved') && state.attempt.number === attemptNumber;

/** Payments beside the known one that are brought before a person at most; more tell nothing new. */
const secondPaymentsMax = 10;

function raiseSecondPayment(state: Payment, serviceToken: string, attemptNumber: number): PaymentEvent[] {
  if (state.serviceToken === serviceToken) return [];
  if (secondPayments(state).length >= secondPaymentsMax || isSecondPayment(state, serviceToken)) return [];
  const evidence = { attemptNumber, serviceToken, knownServiceToken: state.serviceToken ?? null };
  // Each has evidence of its own, so each is raised, also while another is open.
  return openReview({ reviews: [], acknowledged: [] }, 'second_payment_found', evidence);
}

const secondPayments = ({ reviews, acknowledged }: Payment) =>
  [...reviews, ...acknowledged].filter(({ code }) => code === 'second_payment_found');

/** True where a person was called for this payment beside ours. */
export const isSecondPayment = (state: Payment, serviceToken: string): boolean =>
  secondPayments(state).some((each) => isAbout(each, 'serviceToken', serviceToken));

export function recordSearch(state: Payment, command: RecordSearch): PaymentEvent[] {
  const { attemptNumber, inquiredAt } = command;
  // Too late to be needed, yet what it found and nobody knows of is a second payment.
  if (!isAwaited(state, attemptNumber)) {
    const unknown = ofAttempt(state, command).find(({ serviceToken }) => serviceToken !== state.serviceToken);
    return unknown === undefined ? [] : raiseSecondPayment(state, unknown.serviceToken, attemptNumber);
  }
  // Whoever announced the call may still be waiting for its answer, which tells more than a look.
  if (state.phase === 'requested' && inquiredAt < state.attempt.answerBy) return [];
  const unresolved: PaymentEvent[] =
    state.phase === 'requested'
      ? [{ type: 'AttemptUnresolved', data: { attemptNumber, reason: 'no outcome was recorded' } }]
      : [];
  return [...unresolved, ...resolve(unresolved.reduce<Payment>(evolve, state), command)];
}

/** What was found under the attempt's own number. The number of a past attempt is not kept: all of it may be its. */
function ofAttempt({ attempt }: Payment, { attemptNumber, found }: RecordSearch): readonly ObservedPayment[] {
  const { number, providerOrderNumber } = attempt;
  if (attemptNumber !== number) return found;
  return found.filter(({ orderNumber }) => (orderNumber ?? providerOrderNumber) === providerOrderNumber);
}

function resolve(state: Payment, command: RecordSearch): PaymentEvent[] {
  const [first, ...others] = ofAttempt(state, command);
  if (first !== undefined) return acceptFound(state, command.attemptNumber, first, others);
  // An answer about other orders than the one asked for proves nothing about ours.
  const [foreign] = command.found;
  if (foreign !== undefined) return raiseDisagreement(state, foreign);
  return command.inquiredAt < state.attempt.quietUntil ? [] : giveUpAttempt(state, command);
}

function acceptFound(
  state: Payment,
  attemptNumber: number,
  first: ObservedPayment,
  others: readonly ObservedPayment[],
): PaymentEvent[] {
  const accepted = accept(attemptNumber, first.serviceToken, first.processingUrl, 'inquiry');
  const events = [accepted, ...observePayment(evolve(state, accepted), first)];
  const second = others.find(({ serviceToken }) => serviceToken !== first.serviceToken);
  if (second === undefined) return events;
  return [...events, ...raiseSecondPayment(evolve(state, accepted), second.serviceToken, attemptNumber)];
}

// Only a hosted payment may be tried again: nobody can have paid on a page that nobody was given. A card may have been charged.
function giveUpAttempt(state: Payment, command: RecordSearch): PaymentEvent[] {
  const { attemptNumber, nextAttempt } = command;
  if (state.terms.kind !== 'hosted') {
    const { providerOrderNumber } = state.attempt;
    return openReview(state, 'attempt_not_found', { attemptNumber, providerOrderNumber });
  }
  return [{ type: 'AttemptNotFound', data: { attemptNumber } }, ...goOn(state, nextAttempt, 'not-found')];
}

/**
 * Evidence of a payment beside the one that we know or wait for; undefined where the observed one is just the one that
 * is known, and what it says counts.
 */
export function sightingOfAnother(state: Payment, observed: ObservedPayment): PaymentEvent[] | undefined {
  const { number, providerOrderNumber } = state.attempt;
  if (isAwaited(state, number)) {
    // The look that is under way finds the current attempt's payment; another one's is one too many.
    const isOther = observed.orderNumber !== undefined && observed.orderNumber !== providerOrderNumber;
    return isOther ? raiseSecondPayment(state, observed.serviceToken, number) : [];
  }
  const isKnown = state.serviceToken === undefined || state.serviceToken === observed.serviceToken;
  return isKnown ? undefined : raiseSecondPayment(state, observed.serviceToken, number);
}

function goOn(
  state: Payment,
  nextAttempt: Attempt | undefined,
  reason: 'refused' | 'not-sent' | 'not-found',
): PaymentEvent[] {
  if (nextAttempt === undefined || nextAttempt.number > attemptsMax)
    return [{ type: 'PaymentFailed', data: { reason } }];
  if (nextAttempt.number !== state.attempt.number + 1)
    throw new InvariantViolation('attempts must be numbered one after the other');
  return [{ type: 'AttemptStarted', data: { attempt: nextAttempt } }];
}

/** True where another account may fare better: the service refused us, not the payment. */
export function isFaultOfAccount(errors: readonly ApiError[]): boolean {
  return errors.some(({ kind }) => kind === 'authentication_error' || kind === 'settings_error');
}

function accept(
  attemptNumber: number,
  serviceToken: string,
  processingUrl: string | undefined,
  evidence: 'answer' | 'inquiry',
): PaymentEvent {
  const page = processingUrl === undefined ? {} : { processingUrl };
  return { type: 'AttemptAccepted', data: { attemptNumber, serviceToken, ...page, evidence } };
}

function disagreement(state: Payment, accepted: Accepted): PaymentEvent[] {
  const { amount, currency } = state.terms;
  const agrees = (accepted.amount ?? amount) === amount && (accepted.currency ?? currency) === currency;
  if (agrees) return [];
  return openReview(state, 'terms_disagree', {
    amount,
    currency,
    observedAmount: accepted.amount ?? null,
    observedCurrency: accepted.currency ?? null,
  });
}
