/**
 * The decisions about a payment. Pure: time, identifiers and what the service said come in with the command.
 * Every decision is safe to take again on a newer state, which is what happens when an append meets a conflict.
 */
import { inOrder, refuse, type Decision } from '../decision.ts';
import { openNotReadable, resolveNotReadable } from '../failed-inquiry.ts';
import { unreachable } from '../invariant.ts';
import { openLatest } from '../review.ts';
import { deferCallback, endDeferredAbout, endDeferredOfOwn } from '../deferred-callback.ts';
import { recordCaptureOrVoidOutcome, submitCaptureOrVoid } from './capture-or-void.ts';
import {
  isSecondPayment,
  recordAuthorizationOutcome,
  recordSearch,
  requestPayment,
  settleDoubtsBeside,
  sightingOfAnother,
} from './creation.ts';
import { inquiryNeedOf, latestQuietUntil } from './inquiry-need.ts';
import type {
  PaymentCommand,
  PaymentInput,
  PaymentObservation,
  PaymentRefusal,
  RecordObservation,
} from './payment-commands.ts';
import type { PaymentEvent, ReviewCode } from './payment-events.ts';
import { evolve, type Payment, type PaymentState } from './payment-state.ts';
import { observeRefunds, recordRefundDeclineReported, recordRefundOutcome, submitRefund } from './refunds.ts';
import { resolveAnswered, resolveReview } from './resolutions.ts';
import { observe } from './retrieval.ts';

export type PaymentDecision = Decision<PaymentEvent, PaymentRefusal>;

/**
 * What a command or observation makes of a payment: events to append atomically, none where it is nothing new, or a
 * refusal.
 */
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

/** Events of an observation, and the reviews that it resolves. */
const record = (state: Payment, observation: PaymentObservation): PaymentEvent[] =>
  inOrder<Payment, PaymentEvent>(state, evolve, [
    (payment) => eventsOf(payment, observation),
    (payment) => (isInquiry(observation) ? resolveNotReadable<ReviewCode>(payment) : []),
    settleDoubtsBeside,
    resolveAnswered,
  ]);

const isInquiry = ({ type }: PaymentObservation): boolean =>
  type === 'RecordSearch' || type === 'RecordObservation' || type === 'RecordMissing';

function eventsOf(state: Payment, observation: PaymentObservation): PaymentEvent[] {
  switch (observation.type) {
    case 'RecordAuthorizationOutcome':
      return recordAuthorizationOutcome(state, observation);
    case 'RecordSearch':
      return inOrder<Payment, PaymentEvent>(state, evolve, [
        (payment) => recordSearch(payment, observation),
        (payment) => endDeferredOfOwn(payment, payment.serviceToken, observation.inquiredAt),
      ]);
    case 'RecordCaptureOrVoidOutcome':
      return recordCaptureOrVoidOutcome(state, observation);
    case 'RecordRefundOutcome':
      return recordRefundOutcome(state, observation);
    case 'RecordRefundDeclineReported':
      return recordRefundDeclineReported(state, observation);
    case 'RecordObservation':
      return recordObservation(state, observation);
    case 'RecordMissing':
      if (state.serviceToken !== observation.serviceToken) return [];
      return [
        ...openLatest(state, 'only_here', { serviceToken: observation.serviceToken }),
        ...observeRefunds(state, observation, false),
        ...endDeferredOfOwn(state, observation.serviceToken),
      ];
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

function recordObservation(state: Payment, observation: RecordObservation): PaymentEvent[] {
  const { serviceToken } = observation.observed;
  const sighting = sightingOfAnother(state, observation.observed);
  if (sighting === undefined) return observe(state, observation);
  return inOrder<Payment, PaymentEvent>(state, evolve, [
    () => sighting,
    // The review has that payment in its evidence: callbacks about it are part of the same question.
    (payment) => (isSecondPayment(payment, serviceToken) ? endDeferredAbout(payment, serviceToken) : []),
  ]);
}
