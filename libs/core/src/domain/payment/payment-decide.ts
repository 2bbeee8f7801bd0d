/**
 * Decisions about a payment. Pure: time, identifiers and the provider's answers are part of the command.
 * Every decision may be repeated on a newer state, which happens if an append meets a conflict.
 */
import { refuse, type Decision } from '../decision.ts';
import { deferCallback, endDeferredAbout, endDeferredOfOwn } from '../deferred-callback.ts';
import { observeDiscrepancy } from '../discrepancy.ts';
import { openNotReadable, resolveNotReadable } from '../failed-inquiry.ts';
import { unreachable } from '../invariant.ts';
import { resolvedByAPerson } from '../review.ts';
import { recordCaptureOrVoidOutcome, submitCaptureOrVoid } from './capture-or-void.ts';
import { recordAuthorizationOutcome, recordObservation, recordSearch, requestPayment } from './creation.ts';
import { recordDispute } from './disputes.ts';
import { inquiryNeedOf, latestQuietUntil } from './inquiry-need.ts';
import { ourSide } from './observation.ts';
import type { PaymentCommand, PaymentInput, PaymentObservation, PaymentRefusal } from './payment-commands.ts';
import type { PaymentEvent, ReviewCode } from './payment-events.ts';
import { inSteps } from './payment-evolve.ts';
import { type Payment, type PaymentState } from './payment-state.ts';
import { observeRefunds, recordRefundOutcome, submitRefund } from './refunds.ts';
import { resolveAnswered, resolveReview } from './resolutions.ts';

export type PaymentDecision = Decision<PaymentEvent, PaymentRefusal>;

/** Applies a command or observation to a payment: events to append atomically, none if nothing is new, or a refusal. */
export function decide(state: PaymentState, input: PaymentInput): PaymentDecision {
  switch (input.type) {
    case 'RequestPayment':
    case 'SubmitCaptureOrVoid':
    case 'SubmitRefund':
    case 'ResolveReview':
      return carryOut(state, input);
    default:
      return { kind: 'events', events: state === undefined ? [] : record(state, input) };
  }
}

function carryOut(state: PaymentState, command: PaymentCommand): PaymentDecision {
  if (command.type === 'RequestPayment') return requestPayment(state, command);
  if (state === undefined) return refuse({ code: 'payment_not_found' });
  switch (command.type) {
    case 'SubmitCaptureOrVoid':
      return submitCaptureOrVoid(state, command);
    case 'SubmitRefund':
      return submitRefund(state, command);
    case 'ResolveReview':
      return resolveReview(state, command);
    default:
      return unreachable(command);
  }
}

const record = (state: Payment, observation: PaymentObservation): PaymentEvent[] =>
  inSteps(
    state,
    (payment) => eventsOf(payment, observation),
    (payment) => (isInquiry(observation) ? resolveNotReadable<ReviewCode>(payment) : []),
    resolveAnswered,
  );

const isInquiry = ({ type }: PaymentObservation): boolean =>
  type === 'RecordSearch' || type === 'RecordObservation' || type === 'RecordMissing';

function eventsOf(state: Payment, observation: PaymentObservation): PaymentEvent[] {
  switch (observation.type) {
    case 'RecordAuthorizationOutcome':
      return recordAuthorizationOutcome(state, observation);
    case 'RecordSearch':
      return inSteps(
        state,
        (payment) => recordSearch(payment, observation),
        (payment) => endDeferredOfOwn(payment, payment.serviceToken, observation.inquiredAt),
      );
    case 'RecordCaptureOrVoidOutcome':
      return recordCaptureOrVoidOutcome(state, observation);
    case 'RecordRefundOutcome':
      return recordRefundOutcome(state, observation);
    case 'RecordDispute':
      return recordDispute(state, observation);
    case 'RecordObservation':
      return recordObservation(state, observation);
    case 'RecordMissing':
      return recordMissing(state, observation);
    case 'DeferCallback':
      return deferCallback(state, observation);
    case 'RecordCallbackInquired':
      return endDeferredAbout(state, observation.serviceToken);
    case 'RecordInquiryFailed':
      return openNotReadable(state, observation, {
        inquiryNeed: inquiryNeedOf(state),
        quietUntil: latestQuietUntil(state),
      });
    default:
      return unreachable(observation);
  }
}

function recordMissing(
  state: Payment,
  { serviceToken, inquiredAt }: { serviceToken: string; inquiredAt: number },
): PaymentEvent[] {
  if (state.serviceToken !== serviceToken) return [];
  // A person has accepted that the provider does not have it.
  const isKnown = state.declineReason === resolvedByAPerson;
  const onlyHere = { kind: 'only_here', operation: 'payment', serviceToken, theirs: null } as const;
  return [
    ...(isKnown ? [] : observeDiscrepancy(state, { ...onlyHere, ours: ourSide(state) })),
    ...observeRefunds(state, { inquiredAt }),
    ...endDeferredOfOwn(state, serviceToken),
  ];
}
