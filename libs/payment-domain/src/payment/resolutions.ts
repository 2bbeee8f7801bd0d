/** What a person may say about a payment that waits for one, and what is resolved by what was found out since. */
import { findOpen, resolveWhere, type Attention, type Evidence, type Resolution } from '../attention.ts';
import type { Decision } from '../decision.ts';
import { unreachable } from '../invariant.ts';
import type { PaymentRefusal, ResolveAttention } from './payment-commands.ts';
import type { AttentionCode, PaymentEvent } from './payment-events.ts';
import { isFinalPhase } from './payment-machine.ts';
import { openWorkOf } from './open-work.ts';
import { evolve, isDecided, type Payment, type Refund } from './payment-state.ts';

const always: Record<AttentionCode, readonly Resolution[]> = {
  attempt_not_found: ['look_again'],
  callback_not_applied: ['look_again', 'acknowledged'],
  final_status_revised: ['acknowledged'],
  refund_disagrees: ['look_again', 'acknowledged'],
  refund_unresolved: ['look_again', 'refund_made', 'refund_not_made'],
  second_payment_found: ['acknowledged'],
  service_not_readable: ['look_again', 'acknowledged'],
  service_payment_missing: ['look_again', 'acknowledged'],
  terms_disagree: ['look_again', 'acknowledged'],
  two_step_unresolved: ['look_again'],
  unknown_status: ['look_again', 'acknowledged'],
};

/** The ways out of an attention of this code, for the payment as it is. */
export const resolutionsOf = (payment: Payment, code: AttentionCode): readonly Resolution[] =>
  mayBeUnmade(payment, code) ? [...always[code], 'payment_not_made'] : always[code];

/** Where the service does not show the payment at all: what it shows otherwise than agreed may still be paid. */
function mayBeUnmade({ phase }: Payment, code: AttentionCode): boolean {
  if (code === 'attempt_not_found') return phase === 'unresolved';
  // While a call is on its way nobody can be sure of its end.
  return code === 'service_payment_missing' && !isFinalPhase(phase) && phase !== 'requested';
}

export function resolveAttention(
  state: Payment,
  { code, number, resolution, reason }: ResolveAttention,
): Decision<PaymentEvent, PaymentRefusal> {
  const open = findOpen(state, { code, number });
  if (open === undefined) return { kind: 'refused', refusal: { code: 'attention_not_found' } };
  const allowed = resolutionsOf(state, code);
  if (!allowed.includes(resolution))
    return { kind: 'refused', refusal: { code: 'resolution_not_allowed', allowed } };
  const effect = effectOf(state, open, resolution);
  if (effect === undefined) return { kind: 'refused', refusal: { code: 'attention_not_found' } };
  const resolved: PaymentEvent = { type: 'AttentionResolved', data: { code, number, resolution, reason } };
  const events = [resolved, ...effect];
  return { kind: 'events', events: [...events, ...resolveAnswered(events.reduce<Payment>(evolve, state))] };
}

/** What a person's word changes; undefined where what it is about has been decided already. */
function effectOf(
  state: Payment,
  { evidence }: Attention<AttentionCode>,
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
    case 'look_again':
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

const isStillInDoubt: Partial<Record<AttentionCode, (payment: Payment, evidence: Evidence) => boolean>> = {
  // A late answer may have ended the attempt that a person was called for, and another one is under way.
  attempt_not_found: ({ phase, attempt }, { attemptNumber }) =>
    (phase === 'requested' || phase === 'unresolved') && attempt.number === attemptNumber,
  refund_unresolved: (payment, evidence) => undecidedIn(payment, evidence) !== undefined,
  service_not_readable: (payment) => openWorkOf(payment) !== undefined,
  two_step_unresolved: ({ phase }) => phase === 'confirming' || phase === 'declining',
};

/** Ends the attention about something whose outcome is known by now. */
export const resolveAnswered = (payment: Payment): PaymentEvent[] =>
  resolveWhere(
    payment,
    ({ code, evidence }) => isStillInDoubt[code]?.(payment, evidence) === false,
    'found',
    'the service told later',
  );
