/** What a retrieved payment tells that we did not know. A look that finds no change gives no event. */
import { amountSchema, paymentStatusSchema, type PaymentStatus } from '@tollgate/payment-api/values';
import { unreachable } from './invariant.ts';
import type { ObservedPayment } from './payment-commands.ts';
import { textLengthMax, type AttentionCode, type PaymentEvent } from './payment-events.ts';
import { isFinalPhase, phaseAfter, statusOfPhase } from './payment-machine.ts';
import { evolve, type Attention, type Payment } from './payment-state.ts';

/** Events that make `state` agree with what the service says, or that call a person where it must not. */
export function observe(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  const status = paymentStatusSchema.safeParse(observed.status);
  if (!status.success)
    return raiseOnce(state, 'unknown_status', { observedStatus: observed.status.slice(0, 100) });
  if (!agrees(state, observed, status.data)) return raiseDisagreement(state, observed);
  if (isFinalPhase(state.phase)) return observeFinal(state, observed, status.data);
  const events = observeOpen(state, observed, status.data);
  return [...events, ...observeRefunds(events.reduce(evolve, state), observed)];
}

/** Of one text of a piece of evidence, characters: what the service sends may be of any length. */
const evidenceLengthMax = 256;

/** Raises attention unless the same code waits for a person already. */
export function raiseOnce(
  state: Payment,
  code: AttentionCode,
  evidence: Attention['evidence'],
): PaymentEvent[] {
  if (state.attention.some((open) => open.code === code)) return [];
  const short = Object.entries(evidence).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.slice(0, evidenceLengthMax) : value,
  ]);
  const data = { code, evidence: Object.fromEntries(short) as Attention['evidence'] };
  return [{ type: 'AttentionRaised', data }];
}

/**
 * Money of another amount, currency or order is not this payment's: it is not booked here, a person looks. The one
 * exception is a final payment that an operator changes later, to or from approved, with another amount: a revision.
 */
function agrees(state: Payment, observed: ObservedPayment, status: PaymentStatus): boolean {
  const { providerOrderNumber } = state.attempt;
  const isApprovedInBoth = state.approvedAmount > 0 && (status === 'approved' || status === 'refunded');
  const isAmountFree = isFinalPhase(state.phase) && !isApprovedInBoth;
  return (
    (isAmountFree ? amountSchema.safeParse(observed.amount).success : observed.amount === amountOf(state)) &&
    isPartOf(observed.heldAmount, observed.amount) &&
    isPartOf(observed.refundedAmount, observed.amount) &&
    observed.currency === state.terms.currency &&
    (observed.orderNumber ?? providerOrderNumber) === providerOrderNumber
  );
}

const amountOf = (state: Payment): number =>
  state.approvedAmount > 0 ? state.approvedAmount : state.terms.amount;

const isPartOf = (part: number, whole: number): boolean =>
  Number.isSafeInteger(part) && part >= 0 && part <= whole;

/** Calls a person: what the service shows is not what was asked for. */
export function raiseDisagreement(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  return raiseOnce(state, 'terms_disagree', {
    amount: amountOf(state),
    currency: state.terms.currency,
    providerOrderNumber: state.attempt.providerOrderNumber,
    observedAmount: observed.amount,
    observedHeldAmount: observed.heldAmount,
    observedRefundedAmount: observed.refundedAmount,
    observedCurrency: observed.currency,
    observedOrderNumber: observed.orderNumber ?? null,
    observedServiceToken: observed.serviceToken,
  });
}

function observeOpen(state: Payment, observed: ObservedPayment, status: PaymentStatus): PaymentEvent[] {
  const event = openEventFor(observed, status);
  if (event === undefined) return [];
  // What the machine does not allow here is an older picture than ours (pending after held): it tells nothing.
  return phaseAfter(state.phase, { type: event.type }) === undefined ? [] : [event];
}

type OpenEvent = Extract<
  PaymentEvent,
  { type: 'PaymentPending' | 'PaymentHeld' | 'PaymentApproved' | 'PaymentDeclined' | 'PaymentExpired' }
>;

function openEventFor(observed: ObservedPayment, status: PaymentStatus): OpenEvent | undefined {
  const mask = observed.sanitizedMask === undefined ? {} : { sanitizedMask: cut(observed.sanitizedMask) };
  switch (status) {
    case 'init':
      return undefined;
    case 'pending':
      return observed.heldAmount > 0
        ? { type: 'PaymentHeld', data: { heldAmount: observed.heldAmount, ...mask } }
        : { type: 'PaymentPending', data: {} };
    case 'approved':
    case 'refunded':
      return { type: 'PaymentApproved', data: { amount: observed.amount, ...mask } };
    case 'declined':
      return { type: 'PaymentDeclined', data: { ...declineReasonOf(observed), ...mask } };
    case 'expired':
      return { type: 'PaymentExpired', data: {} };
    default:
      return unreachable(status);
  }
}

const cut = (text: string): string => text.slice(0, textLengthMax);

const declineReasonOf = ({ declineReason }: ObservedPayment) =>
  declineReason === undefined ? {} : { declineReason: cut(declineReason) };

function observeFinal(state: Payment, observed: ObservedPayment, status: PaymentStatus): PaymentEvent[] {
  // A final state is never taken back by a picture that is older than it.
  if (status === 'init' || status === 'pending') return [];
  const refunds = observeRefunds(state, observed);
  const from = statusOfPhase(state.phase);
  if (from === status || refunds.length > 0) return refunds;
  // Refunded is approved with everything given back: a picture of the time before the refund.
  if (from === 'refunded' && status === 'approved') return [];
  // Our own refund on its way explains it; the refund's outcome is awaited.
  if (from === 'approved' && status === 'refunded' && hasUndecidedRefund(state)) return [];
  return revise(state, observed, status);
}

function revise(
  state: Payment,
  observed: ObservedPayment,
  to: Exclude<PaymentStatus, 'init' | 'pending'>,
): PaymentEvent[] {
  const from = statusOfPhase(state.phase);
  const amount = to === 'approved' || to === 'refunded' ? { amount: observed.amount } : {};
  const serviceToken = state.serviceToken === undefined ? { serviceToken: observed.serviceToken } : {};
  const revised: PaymentEvent = {
    type: 'FinalStatusRevised',
    data: { from, to, ...amount, ...declineReasonOf(observed), ...serviceToken },
  };
  return [
    revised,
    ...observeRefunds(evolve(state, revised), observed),
    ...raiseOnce(state, 'final_status_revised', { from, to, observedAmount: observed.amount }),
  ];
}

const hasUndecidedRefund = (state: Payment): boolean =>
  state.refunds.some((refund) => refund.state === 'submitted' || refund.state === 'unresolved');

/** Refunds that we did not order. While one of ours is undecided, nobody can tell whose a refund is: it waits. */
function observeRefunds(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  const isApproved = state.phase === 'approved' || state.phase === 'refunded';
  const wasApproved = observed.status === 'approved' || observed.status === 'refunded';
  if (!isApproved || !wasApproved || hasUndecidedRefund(state)) return [];
  const refundedAmount = observed.status === 'refunded' ? observed.amount : observed.refundedAmount;
  const amount = refundedAmount - state.refundedAmount;
  return amount > 0 ? [{ type: 'ExternalRefundObserved', data: { amount } }] : [];
}
