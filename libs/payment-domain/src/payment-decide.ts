/**
 * The decisions about a payment. Pure: time, identifiers and what the service said come in with the command.
 * Every decision is safe to take again on a newer state, which is what happens when an append meets a conflict.
 */
import type { ApiError } from '@tollgate/payment-api/values';
import { unreachable } from './invariant.ts';
import type {
  Decision,
  ObservedPayment,
  PaymentCommand,
  PaymentRefusal,
  RecordCreationOutcome,
  RecordLookup,
  RequestPayment,
} from './payment-commands.ts';
import {
  errorsMax,
  textLengthMax,
  type Attempt,
  type AttentionCode,
  type PaymentEvent,
} from './payment-events.ts';
import { observe, raiseDisagreement, raiseOnce } from './payment-observation.ts';
import { evolve, type Payment, type PaymentState } from './payment-state.ts';

/** Attempts per payment at most, whatever the reasons of the earlier ones. */
export const attemptsMax = 3;

export type PaymentDecision = Decision<PaymentEvent, PaymentRefusal>;

/** What a command makes of a payment: events to append in one piece, none where it tells nothing new, or a refusal. */
export function decide(state: PaymentState, command: PaymentCommand): PaymentDecision {
  if (command.type === 'RequestPayment') return requestPayment(state, command);
  return { kind: 'events', events: state === undefined ? [] : record(state, command) };
}

function record(state: Payment, command: Exclude<PaymentCommand, RequestPayment>): PaymentEvent[] {
  switch (command.type) {
    case 'RecordCreationOutcome':
      return recordCreationOutcome(state, command);
    case 'RecordLookup':
      return recordLookup(state, command);
    case 'RecordObservation':
      return recordObservation(state, command.observed);
    case 'RecordMissing':
      if (state.serviceToken !== command.serviceToken) return [];
      return raiseOnce(state, 'service_payment_missing', { serviceToken: command.serviceToken });
    case 'RecordUnappliedCallback':
      return raiseOnce(state, 'callback_not_applied', { reason: command.reason });
    default:
      return unreachable(command);
  }
}

// The replay check comes first: the same terms again write nothing, other terms under the same key are refused.
function requestPayment(state: PaymentState, command: RequestPayment): PaymentDecision {
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

function recordCreationOutcome(state: Payment, command: RecordCreationOutcome): PaymentEvent[] {
  const { attemptNumber, outcome, nextAttempt } = command;
  if (outcome.kind === 'accepted') return recordAccepted(state, command, outcome);
  // A look was faster, or the attempt is past: what it found stands.
  if (state.phase !== 'requested' || state.attempt.number !== attemptNumber) return [];
  switch (outcome.kind) {
    case 'refused':
      return [
        { type: 'AttemptRefused', data: { attemptNumber, errors: outcome.errors.slice(0, errorsMax) } },
        ...goOn(isFaultOfAccount(outcome.errors) ? nextAttempt : undefined, 'refused'),
      ];
    case 'not-sent':
      return [
        { type: 'AttemptNotSent', data: { attemptNumber, reason: outcome.reason.slice(0, textLengthMax) } },
        ...goOn(nextAttempt, 'not-sent'),
      ];
    case 'unknown':
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
const isAwaited = (state: Payment, attemptNumber: number): boolean =>
  (state.phase === 'requested' || state.phase === 'unresolved') && state.attempt.number === attemptNumber;

function raiseSecondPayment(state: Payment, serviceToken: string, attemptNumber: number): PaymentEvent[] {
  if (state.serviceToken === serviceToken) return [];
  const knownServiceToken = state.serviceToken ?? null;
  return raiseOnce(state, 'second_payment_found', { attemptNumber, serviceToken, knownServiceToken });
}

function recordLookup(state: Payment, command: RecordLookup): PaymentEvent[] {
  const { attemptNumber, lookedAt } = command;
  // Too late to be needed, yet what it found and nobody knows of is a second payment.
  if (!isAwaited(state, attemptNumber)) {
    const unknown = ofAttempt(state, command).find(({ serviceToken }) => serviceToken !== state.serviceToken);
    return unknown === undefined ? [] : raiseSecondPayment(state, unknown.serviceToken, attemptNumber);
  }
  // Whoever announced the call may still be waiting for its answer, which tells more than a look.
  if (state.phase === 'requested' && lookedAt < state.attempt.answerBy) return [];
  const unresolved: PaymentEvent[] =
    state.phase === 'requested'
      ? [{ type: 'AttemptUnresolved', data: { attemptNumber, reason: 'no outcome was recorded' } }]
      : [];
  return [...unresolved, ...resolve(unresolved.reduce<Payment>(evolve, state), command)];
}

/** What was found under the attempt's own number. The number of a past attempt is not kept: all of it may be its. */
function ofAttempt({ attempt }: Payment, { attemptNumber, found }: RecordLookup): readonly ObservedPayment[] {
  const { number, providerOrderNumber } = attempt;
  if (attemptNumber !== number) return found;
  return found.filter(({ orderNumber }) => (orderNumber ?? providerOrderNumber) === providerOrderNumber);
}

function resolve(state: Payment, command: RecordLookup): PaymentEvent[] {
  const [first, ...others] = ofAttempt(state, command);
  if (first !== undefined) return acceptFound(state, command.attemptNumber, first, others);
  // An answer about other orders than the one asked for proves nothing about ours.
  const [foreign] = command.found;
  if (foreign !== undefined) return raiseDisagreement(state, foreign);
  return command.lookedAt < state.attempt.quietUntil ? [] : giveUpAttempt(state, command);
}

function acceptFound(
  state: Payment,
  attemptNumber: number,
  first: ObservedPayment,
  others: readonly ObservedPayment[],
): PaymentEvent[] {
  const accepted = accept(attemptNumber, first.serviceToken, first.processingUrl, 'lookup');
  const events = [accepted, ...observe(evolve(state, accepted), first)];
  const second = others.find(({ serviceToken }) => serviceToken !== first.serviceToken);
  if (second === undefined) return events;
  return [...events, ...raiseSecondPayment(evolve(state, accepted), second.serviceToken, attemptNumber)];
}

// Only a hosted payment may be tried again: nobody can have paid on a page that nobody was given. A card may have been charged.
function giveUpAttempt(state: Payment, command: RecordLookup): PaymentEvent[] {
  const { attemptNumber, nextAttempt } = command;
  if (state.terms.kind !== 'hosted') {
    const { providerOrderNumber } = state.attempt;
    return raiseOnce(state, 'attempt_not_found', { attemptNumber, providerOrderNumber });
  }
  return [{ type: 'AttemptNotFound', data: { attemptNumber } }, ...goOn(nextAttempt, 'not-found')];
}

function recordObservation(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  if (isAwaited(state, state.attempt.number)) {
    // The look that is under way finds the current attempt's payment; another one's is one too many.
    const { number, providerOrderNumber } = state.attempt;
    const isOther = observed.orderNumber !== undefined && observed.orderNumber !== providerOrderNumber;
    return isOther ? raiseSecondPayment(state, observed.serviceToken, number) : [];
  }
  if (state.serviceToken !== undefined && state.serviceToken !== observed.serviceToken)
    return raiseSecondPayment(state, observed.serviceToken, state.attempt.number);
  return [...observe(state, observed), ...resolveUnappliedCallback(state)];
}

/** Whatever a callback was about that could not be applied: the payment has been retrieved since. */
function resolveUnappliedCallback(state: Payment): PaymentEvent[] {
  const code = 'callback_not_applied';
  if (!state.attention.some((open) => open.code === code)) return [];
  const reason = 'the payment was retrieved later';
  return [{ type: 'AttentionResolved', data: { code, resolution: 'retrieved', reason } }];
}

function goOn(
  nextAttempt: Attempt | undefined,
  reason: 'refused' | 'not-sent' | 'not-found',
): PaymentEvent[] {
  if (nextAttempt === undefined || nextAttempt.number > attemptsMax)
    return [{ type: 'PaymentFailed', data: { reason } }];
  return [{ type: 'AttemptStarted', data: { attempt: nextAttempt } }];
}

/** True where another account may fare better: the service refused us, not the payment. */
function isFaultOfAccount(errors: readonly ApiError[]): boolean {
  return errors.some(({ kind }) => kind === 'authentication_error' || kind === 'settings_error');
}

function accept(
  attemptNumber: number,
  serviceToken: string,
  processingUrl: string | undefined,
  evidence: 'answer' | 'lookup',
): PaymentEvent {
  const page = processingUrl === undefined ? {} : { processingUrl };
  return { type: 'AttemptAccepted', data: { attemptNumber, serviceToken, ...page, evidence } };
}

function disagreement(state: Payment, accepted: Accepted): PaymentEvent[] {
  const { amount, currency } = state.terms;
  const agrees = (accepted.amount ?? amount) === amount && (accepted.currency ?? currency) === currency;
  if (agrees) return [];
  const code: AttentionCode = 'terms_disagree';
  return raiseOnce(state, code, {
    amount,
    currency,
    observedAmount: accepted.amount ?? null,
    observedCurrency: accepted.currency ?? null,
  });
}
