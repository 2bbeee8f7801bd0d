/** Confirming and declining a payment whose money is held. Both are found out by looking, and submitted again where they had no effect. */
import { openReview } from '../review.ts';
import type { Decision } from '../decision.ts';
import { unreachable } from '../invariant.ts';
import { observePayment } from './observation.ts';
import type {
  PaymentRefusal,
  RecordObservation,
  RecordCaptureOrVoidOutcome,
  SubmitCaptureOrVoid,
} from './payment-commands.ts';
import { errorsMax, textLengthMax, type PaymentEvent } from './payment-events.ts';
import { isFinalPhase, statusOfPhase } from './payment-machine.ts';
import { evolve, type EndReason, type Payment, type CaptureOrVoid } from './payment-state.ts';

type Operation = CaptureOrVoid['operation'];

/** Submissions of what was asked for before a person is called. */
export const submissionsMax = 5;

const phaseOf = { confirm: 'capturing', decline: 'voiding' } as const;
const submitted = { confirm: 'CaptureSubmitted', decline: 'VoidSubmitted' } as const;
const refused = { confirm: 'CaptureRefused', decline: 'VoidRefused' } as const;
const unresolved = { confirm: 'CaptureUnresolved', decline: 'VoidUnresolved' } as const;

// Idempotent by nature: what was asked for already, or has happened by it, is no news.
export function submitCaptureOrVoid(
  state: Payment,
  { operation, window }: SubmitCaptureOrVoid,
): Decision<PaymentEvent, PaymentRefusal> {
  const { phase } = state;
  if (phase === 'authorized')
    return { kind: 'events', events: [{ type: submitted[operation], data: { ...window } }] };
  if (phase === phaseOf[operation] || isDoneBy(state, operation)) return { kind: 'events', events: [] };
  if (phase === 'capturing' || phase === 'voiding') return refuse('operation_in_progress');
  return refuse(isFinalPhase(phase) ? 'payment_in_final_state' : 'payment_not_confirmable');
}

const refuse = (
  code: 'operation_in_progress' | 'payment_in_final_state' | 'payment_not_confirmable',
): Decision<PaymentEvent, PaymentRefusal> => ({ kind: 'refused', refusal: { code } });

/** True where the payment is what this operation makes of it, and we submitted it. */
function isDoneBy({ phase, captureOrVoid }: Payment, operation: Operation): boolean {
  if (captureOrVoid?.operation !== operation) return false;
  const status = statusOfPhase(phase);
  return operation === 'confirm' ? status === 'approved' || status === 'refunded' : status === 'declined';
}

export function recordCaptureOrVoidOutcome(
  state: Payment,
  command: RecordCaptureOrVoidOutcome,
): PaymentEvent[] {
  const { operation, submission, outcome } = command;
  if (outcome.kind === 'accepted') return recordAccepted(state, command);
  // A look was faster, or another submission followed: what it found stands.
  const isCurrent = state.captureOrVoid?.number === submission && state.phase === phaseOf[operation];
  if (!isCurrent) return [];
  switch (outcome.kind) {
    case 'refused': {
      const data = { errors: outcome.errors.slice(0, errorsMax), reason: 'refused' as EndReason };
      return [{ type: refused[operation], data }];
    }
    case 'not-sent':
      // What was asked for and answered is not dropped because a later submission found no way out.
      if (state.captureOrVoid?.repeats !== undefined) return giveUpWaiting(state, operation, outcome.reason);
      return [{ type: refused[operation], data: { errors: [], reason: 'not-sent' } }];
    case 'unknown':
      return giveUpWaiting(state, operation, outcome.reason);
    default:
      return unreachable(outcome);
  }
}

/** An acceptance that does not show the effect is not believed before a look has seen it. */
function recordAccepted(state: Payment, command: RecordCaptureOrVoidOutcome): PaymentEvent[] {
  const { operation, submission, outcome } = command;
  if (state.phase !== phaseOf[operation] || outcome.kind !== 'accepted') return [];
  const { observed } = outcome;
  const isOurs = observed !== undefined && observed.serviceToken === state.serviceToken;
  const events = isOurs ? observePayment(state, observed) : [];
  if (state.captureOrVoid?.number !== submission) return events;
  const after = events.reduce<Payment>(evolve, state);
  return [...events, ...giveUpWaiting(after, operation, 'accepted, and no effect is seen yet')];
}

function giveUpWaiting(
  { phase, captureOrVoid }: Payment,
  operation: Operation,
  reason: string,
): PaymentEvent[] {
  if (phase !== phaseOf[operation] || captureOrVoid?.state !== 'submitted') return [];
  return [{ type: unresolved[operation], data: { reason: reason.slice(0, textLengthMax) } }];
}

/** A call without an outcome that had no effect by the end of its quiet period is submitted again, a bounded number of times. */
export function observeCaptureOrVoid(
  state: Payment,
  { observed, inquiredAt, nextWindow }: RecordObservation,
  isReadable: boolean,
): PaymentEvent[] {
  const { captureOrVoid, phase } = state;
  if (captureOrVoid === undefined || phase !== phaseOf[captureOrVoid.operation]) return [];
  // Whoever announced the call may still be waiting for its answer, which tells more than a look.
  if (captureOrVoid.state === 'submitted' && inquiredAt < captureOrVoid.answerBy) return [];
  const { operation, number, repeats = 0, quietUntil } = captureOrVoid;
  const events = giveUpWaiting(state, operation, 'no outcome was recorded');
  if (inquiredAt < quietUntil) return events;
  // Neither ended nor held any more, or nobody can tell: there is nothing that could be submitted again.
  const isStillAuthorized = isReadable && observed.status === 'pending' && observed.heldAmount > 0;
  if (!isStillAuthorized || repeats + 1 >= submissionsMax)
    return [...events, ...openReview(state, 'capture_unresolved', { operation, submissions: number })];
  if (nextWindow === undefined) return events;
  return [...events, { type: submitted[operation], data: { ...nextWindow } }];
}
