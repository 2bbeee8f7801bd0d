/**
 * The decisions about a payment. Pure: time, identifiers and what the service said come in with the command.
 * Every decision is safe to take again on a newer state, which is what happens when an append meets a conflict.
 */
import { openReview } from '../review.ts';
import type { Decision } from '../decision.ts';
import { endNotReadable, raiseNotReadable } from '../failed-inquiry.ts';
import { unreachable } from '../invariant.ts';
import { endUnappliedAbout, endUnappliedOfOwn, raiseUnappliedCallback } from '../unapplied-callback.ts';
import {
  isSecondPayment,
  recordCreationOutcome,
  recordSearch,
  requestPayment,
  sightingOfAnother,
} from './creation.ts';
import { latestQuietUntil, inquiryNeedOf } from './inquiry-need.ts';
import type {
  PaymentCommand,
  PaymentFact,
  PaymentRefusal,
  PaymentWish,
  RecordObservation,
} from './payment-commands.ts';
import type { ReviewCode, PaymentEvent } from './payment-events.ts';
import type { Payment, PaymentState } from './payment-state.ts';
import { recordRefundDeclined, recordRefundOutcome, submitRefund } from './refunds.ts';
import { resolveAnswered, resolveReview } from './resolutions.ts';
import { inOrder, observe } from './retrieval.ts';
import { recordCaptureOrVoidOutcome, submitCaptureOrVoid } from './capture-or-void.ts';

export type PaymentDecision = Decision<PaymentEvent, PaymentRefusal>;

/** What a command makes of a payment: events to append in one piece, none where it tells nothing new, or a refusal. */
export function decide(state: PaymentState, command: PaymentCommand): PaymentDecision {
  switch (command.type) {
    case 'RequestPayment':
    case 'SubmitTwoStep':
    case 'SubmitRefund':
    case 'ResolveAttention':
      return decideWish(state, command);
    default:
      return { kind: 'events', events: state === undefined ? [] : record(state, command) };
  }
}

function decideWish(state: PaymentState, wish: PaymentWish): PaymentDecision {
  if (wish.type === 'RequestPayment') return requestPayment(state, wish);
  if (state === undefined) return { kind: 'refused', refusal: { code: 'payment_not_found' } };
  switch (wish.type) {
    case 'SubmitTwoStep':
      return submitCaptureOrVoid(state, wish);
    case 'SubmitRefund':
      return submitRefund(state, wish);
    case 'ResolveAttention':
      return resolveReview(state, wish);
    default:
      return unreachable(wish);
  }
}

/** What a fact tells, and the attention that it ends. */
const record = (state: Payment, fact: PaymentFact): PaymentEvent[] =>
  inOrder(state, [
    (payment) => recordFact(payment, fact),
    (payment) => (isInquiry(fact) ? endNotReadable<ReviewCode>(payment) : []),
    resolveAnswered,
  ]);

const isInquiry = ({ type }: PaymentFact): boolean =>
  type === 'RecordLookup' || type === 'RecordObservation' || type === 'RecordMissing';

function recordFact(state: Payment, fact: PaymentFact): PaymentEvent[] {
  switch (fact.type) {
    case 'RecordCreationOutcome':
      return recordCreationOutcome(state, fact);
    case 'RecordLookup':
      return inOrder(state, [
        (payment) => recordSearch(payment, fact),
        (payment) => endUnappliedOfOwn(payment, payment.serviceToken, 'the service was asked later'),
      ]);
    case 'RecordTwoStepOutcome':
      return recordCaptureOrVoidOutcome(state, fact);
    case 'RecordRefundOutcome':
      return recordRefundOutcome(state, fact);
    case 'RecordRefundDeclined':
      return recordRefundDeclined(state, fact);
    case 'RecordObservation':
      return recordObservation(state, fact);
    case 'RecordMissing':
      if (state.serviceToken !== fact.serviceToken) return [];
      return openReview(state, 'service_payment_missing', { serviceToken: fact.serviceToken });
    case 'RecordUnappliedCallback':
      return raiseUnappliedCallback(state, fact);
    case 'RecordCallbackLooked':
      return endUnappliedAbout(state, fact.serviceToken);
    case 'RecordLookFailed':
      return raiseNotReadable(state, fact, {
        inquiryNeed: inquiryNeedOf(state),
        quietUntil: latestQuietUntil(state),
      });
    default:
      return unreachable(fact);
  }
}

function recordObservation(state: Payment, observation: RecordObservation): PaymentEvent[] {
  const { serviceToken } = observation.observed;
  const sighting = sightingOfAnother(state, observation.observed);
  if (sighting === undefined) return observe(state, observation);
  return inOrder(state, [
    () => sighting,
    // A person has that payment before them: whatever a callback told about it is part of the matter.
    (payment) => (isSecondPayment(payment, serviceToken) ? endUnappliedAbout(payment, serviceToken) : []),
  ]);
}
