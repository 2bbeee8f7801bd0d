/** Capture and void of authorized money. Their effect shows in the payment's status; without it they are submitted again. */
import { events, refuse, type Decision } from '../decision.ts';
import {
  callRules,
  endCall,
  leaveUnresolved,
  settleCall,
  windowOf,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import { openReview } from '../review.ts';
import { observePayment } from './observation.ts';
import type {
  CaptureOrVoidOutcome,
  ObservedPayment,
  PaymentRefusal,
  RecordCaptureOrVoidOutcome,
  RecordObservation,
  SubmitCaptureOrVoid,
} from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import { isFinalPhase, statusOfPhase } from './payment-machine.ts';
import { evolve } from './payment-evolve.ts';
import { type CaptureOrVoid, type Payment } from './payment-state.ts';

type Operation = CaptureOrVoid['operation'];
type Answer = Omit<Extract<CaptureOrVoidOutcome, { kind: 'accepted' }>, 'kind'>;
interface Submission extends CallInFlight<PaymentEvent, Answer> {
  operation: Operation;
  number: number;
  repeats: number;
}

const words = {
  capture: {
    phase: 'capturing',
    submitted: 'CaptureSubmitted',
    refused: 'CaptureRefused',
    unresolved: 'CaptureUnresolved',
  },
  void: {
    phase: 'voiding',
    submitted: 'VoidSubmitted',
    refused: 'VoidRefused',
    unresolved: 'VoidUnresolved',
  },
} as const;

// Idempotent by nature: an operation already requested or done adds nothing.
export function submitCaptureOrVoid(
  state: Payment,
  { operation, window }: SubmitCaptureOrVoid,
): Decision<PaymentEvent, PaymentRefusal> {
  const { phase } = state;
  const { submitted, phase: underWay } = words[operation];
  if (phase === 'authorized') return events({ type: submitted, data: windowOf(window) });
  if (phase === underWay || isDoneBy(state, operation)) return events();
  if (phase === 'capturing' || phase === 'voiding') return refuse({ code: 'operation_in_progress' });
  return refuse({ code: isFinalPhase(phase) ? 'payment_in_final_state' : 'payment_not_confirmable' });
}

/** True if the payment has this operation's final status, and we submitted it. */
function isDoneBy({ phase, captureOrVoid }: Payment, operation: Operation): boolean {
  if (captureOrVoid?.operation !== operation) return false;
  const status = statusOfPhase(phase);
  return operation === 'capture' ? status === 'approved' || status === 'refunded' : status === 'declined';
}

function submissionInFlight(state: Payment): Submission | undefined {
  const { captureOrVoid: call, phase } = state;
  if (call === undefined || phase !== words[call.operation].phase) return undefined;
  const { operation, number, repeats = 0 } = call;
  const { refused, unresolved } = words[operation];
  const inFlight = {
    isUnresolved: call.state !== 'submitted',
    unresolved: (reason: string): PaymentEvent => ({ type: unresolved, data: { reason } }),
  };
  return {
    operation,
    number,
    repeats,
    ...windowOf(call),
    ...inFlight,
    accepted: ({ observed }) => {
      const isOurs = observed !== undefined && observed.serviceToken === state.serviceToken;
      const shown = isOurs ? observeAnswer(state, observed) : [];
      // An acceptance without a visible effect must be confirmed by an inquiry.
      const isStill = shown.reduce<Payment>(evolve, state).phase === phase;
      return [
        ...shown,
        ...(isStill ? leaveUnresolved(inFlight, 'accepted, but no effect is visible yet') : []),
      ];
    },
    refused: ({ errors }) => [{ type: refused, data: { errors, reason: 'refused' } }],
    notSent: (reason) =>
      // An acknowledged operation is not dropped because a later submission was not sent.
      call.repeats === undefined
        ? [{ type: refused, data: { errors: [], reason: 'not-sent' } }]
        : leaveUnresolved(inFlight, reason),
  };
}

const observeAnswer = (state: Payment, observed: ObservedPayment): PaymentEvent[] =>
  observePayment(state, { observed, inquiredAt: 0, changedAt: 0 });

export function recordCaptureOrVoidOutcome(
  state: Payment,
  { operation, submission, outcome }: RecordCaptureOrVoidOutcome,
): PaymentEvent[] {
  const call = submissionInFlight(state);
  if (call?.operation !== operation) return [];
  if (call.number === submission) return endCall(call, outcome);
  // Another submission followed: only the status in this answer counts.
  const { observed } = outcome.kind === 'accepted' ? outcome : {};
  return observed?.serviceToken === state.serviceToken && observed !== undefined
    ? observeAnswer(state, observed)
    : [];
}

/** A submission without effect at the end of its quiet period is submitted again, a bounded number of times. */
export function observeCaptureOrVoid(
  state: Payment,
  { observed, inquiredAt, nextWindow }: RecordObservation,
  isReadable: boolean,
): PaymentEvent[] {
  const call = submissionInFlight(state);
  if (call === undefined) return [];
  const { operation, number, repeats } = call;
  const { attemptsMax, review } = callRules[operation];
  const absent = (): PaymentEvent[] => {
    // Neither final nor authorized, or unreadable: nothing can be submitted again.
    const isStillAuthorized =
      isReadable && observed.status === 'pending' && (observed.authorizedAmount ?? 0) > 0;
    if (!isStillAuthorized || repeats + 1 >= attemptsMax)
      return openReview(state, review, { operation, submissions: number });
    return nextWindow === undefined ? [] : [{ type: words[operation].submitted, data: windowOf(nextWindow) }];
  };
  return settleCall<PaymentEvent>(call, { inquiredAt, effect: undefined, absent });
}
