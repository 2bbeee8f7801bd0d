/** What a person may say about a payment that waits for one, and what is resolved by what was found out since. */
import { findOpen, resolveWhere, type Review, type Evidence, type Resolution } from '../review.ts';
import type { Decision } from '../decision.ts';
import { unreachable } from '../invariant.ts';
import type { PaymentRefusal, ResolveReview } from './payment-commands.ts';
import type { ReviewCode, PaymentEvent } from './payment-events.ts';
import { isFinalPhase } from './payment-machine.ts';
import { inquiryNeedOf } from './inquiry-need.ts';
import { evolve, isDecided, type Payment, type Refund } from './payment-state.ts';

const always: Record<ReviewCode, readonly Resolution[]> = {
  attempt_not_found: ['inquire_again'],
  callback_not_applied: ['inquire_again', 'acknowledged'],
  final_status_revised: ['acknowledged'],
  refund_disagrees: ['inquire_again', 'acknowledged'],
  refund_unresolved: ['inquire_again', 'refund_made', 'refund_not_made'],
  second_payment_found: ['acknowledged'],
  service_not_readable: ['inquire_again', 'acknowledged'],
  service_payment_missing: ['inquire_again', 'acknowledged'],
  terms_disagree: ['inquire_again', 'acknowledged'],
  capture_unresolved: ['inquire_again'],
  unknown_status: ['inquire_again', 'acknowledged'],
};

/** The ways out of an attention of this code, for the payment as it is. */
export const resolutionsOf = (payment: Payment, code: ReviewCode): readonly Resolution[] =>
  mayBeUnmade(payment, code) ? [...always[code], 'payment_not_made'] : always[code];

/** Where the service does not show the payment at all: what it shows otherwise than agreed may still be paid. */
function mayBeUnmade({ phase }: Payment, code: ReviewCode): boolean {
  if (code === 'attempt_not_found') return phase === 'unresolved';
  // While a call is on its way nobody can be sure of its end.
  return code === 'service_payment_missing' && !isFinalPhase(phase) && phase !== 'requested';
}

export function resolveReview(
  state: Payment,
  { code, number, resolution, reason }: ResolveReview,
): Decision<PaymentEvent, PaymentRefusal> {
  const open = findOpen(state, { code, number });
  if (open === undefined) return { kind: 'refused', refusal: { code: 'review_not_found' } };
  const allowed = resolutionsOf(state, code);
  if (!allowed.includes(resolution))
    return { kind: 'refused', refusal: { code: 'resolution_not_allowed', allowed } };
  const effect = effectOf(state, open, resolution);
  if (effect === undefined) return { kind: 'refused', refusal: { code: 'review_not_found' } };
  const resolved: PaymentEvent = { type: 'ReviewResolved', data: { code, number, resolution, reason } };
  const events = [resolved, ...effect];
  return { kind: 'events', events: [...events, ...resolveAnswered(events.reduce<Payment>(evolve, state))] };
}

/** What a person's word changes; undefined where what it is about has been decided already. */
function effectOf(
  state: Payment,
  { evidence }: Review<ReviewCode>,
  resolution: Resolution,
): PaymentEvent[] | undefined {
  switch (resolution) {
    case 'payment_not_made':
      return [endPayment(state)];
    case 'refund_made':
    case 'refund_not_made': {
      const refund = undecidedIn(state, evidence);
      return refund && [endRefund(refund, resolution)];
    }
    case 'acknowledged':
    case 'inquire_again':
    case 'payout_not_made':
      return [];
    default:
      return unreachable(resolution);
  }
}

/** A payment that the service never had has failed; one that it had and undid is declined. */
const endPayment = ({ phase }: Payment): PaymentEvent =>
  phase === 'requested' || phase === 'unresolved'
    ? { type: 'PaymentFailed', data: { reason: 'resolved' } }
    : { type: 'PaymentDeclined', data: { declineReason: 'resolved_by_a_person' } };

const endRefund = ({ refundToken }: Refund, resolution: 'refund_made' | 'refund_not_made'): PaymentEvent =>
  resolution === 'refund_made'
    ? { type: 'RefundApproved', data: { refundToken } }
    : { type: 'RefundDeclined', data: { refundToken, errors: [], reason: 'resolved' } };

/** The refund that the evidence names, while its outcome is not known. */
const undecidedIn = ({ refunds }: Payment, evidence: Evidence): Refund | undefined =>
  refunds.find((refund) => refund.refundToken === evidence['refundToken'] && !isDecided(refund));

const isStillInDoubt: Partial<Record<ReviewCode, (payment: Payment, evidence: Evidence) => boolean>> = {
  // A late answer may have ended the attempt that a person was called for, and another one is under way.
  attempt_not_found: ({ phase, attempt }, { attemptNumber }) =>
    (phase === 'requested' || phase === 'unresolved') && attempt.number === attemptNumber,
  refund_unresolved: (payment, evidence) => undecidedIn(payment, evidence) !== undefined,
  service_not_readable: (payment) => inquiryNeedOf(payment) !== undefined,
  capture_unresolved: ({ phase }) => phase === 'capturing' || phase === 'voiding',
};

/** Ends the attention about something whose outcome is known by now. */
export const resolveAnswered = (payment: Payment): PaymentEvent[] =>
  resolveWhere(
    payment,
    ({ code, evidence }) => isStillInDoubt[code]?.(payment, evidence) === false,
    'found',
    'the service told later',
  );
