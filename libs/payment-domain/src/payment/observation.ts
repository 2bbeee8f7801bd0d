/** What a retrieved payment tells that we did not know. A look that finds no change gives no event. */
import { amountSchema, paymentStatusSchema, type PaymentStatus } from '@tollgate/payment-api/values';
import { openReview, resolveOpen } from '../review.ts';
import { unreachable } from '../invariant.ts';
import type { ObservedPayment } from './payment-commands.ts';
import { textLengthMax, type PaymentEvent } from './payment-events.ts';
import { isFinalPhase, phaseAfter, statusOfPhase } from './payment-machine.ts';
import { undecidedRefund, type Payment } from './payment-state.ts';

/** Events that make the payment's status agree with what the service says, or that call a person where it must not. */
export function observePayment(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  const status = paymentStatusSchema.safeParse(observed.status);
  if (!status.success)
    return openReview(state, 'unknown_status', { observedStatus: observed.status.slice(0, 100) });
  if (!agrees(state, observed)) return raiseDisagreement(state, observed);
  const events = isFinalPhase(state.phase)
    ? observeFinal(state, observed, status.data)
    : observeOpen(state, observed, status.data);
  return [...events, ...issueRecurringToken(state, observed), ...endDoubts(state)];
}

/** The service shows what was asked for, and it is understood: whatever it showed before is over. */
const endDoubts = (state: Payment): PaymentEvent[] =>
  (['service_payment_missing', 'terms_disagree', 'unknown_status'] as const).flatMap((code) =>
    resolveOpen(state, code, 'found', 'the service told later'),
  );

function issueRecurringToken(
  { terms, recurringToken: known }: Payment,
  observed: ObservedPayment,
): PaymentEvent[] {
  const { recurringToken } = observed;
  if (terms.recurring !== true || known !== undefined || recurringToken === undefined) return [];
  return [{ type: 'RecurringTokenIssued', data: { recurringToken } }];
}

/**
 * Money of another amount, currency or order is not this payment's: it is not booked here, a person looks. The one
 * exception is a final payment that an operator changes later, to or from approved, with another amount: a revision.
 */
function agrees(state: Payment, observed: ObservedPayment): boolean {
  const { providerOrderNumber } = state.attempt;
  const isApprovedInBoth = state.approvedAmount > 0 && wasApproved(observed);
  const isAmountFree = isFinalPhase(state.phase) && !isApprovedInBoth;
  return (
    (isAmountFree ? amountSchema.safeParse(observed.amount).success : observed.amount === amountOf(state)) &&
    isPartOf(observed.heldAmount, observed.amount) &&
    isPartOf(observed.refundedAmount, observed.amount) &&
    observed.currency === state.terms.currency &&
    (observed.orderNumber ?? providerOrderNumber) === providerOrderNumber
  );
}

/** True where what the service shows is of a status that we know and about the payment that was asked for. */
export const isUnderstood = (state: Payment, observed: ObservedPayment): boolean =>
  paymentStatusSchema.safeParse(observed.status).success && agrees(state, observed);

const amountOf = (state: Payment): number =>
  state.approvedAmount > 0 ? state.approvedAmount : state.terms.amount;

const isPartOf = (part: number, whole: number): boolean =>
  Number.isSafeInteger(part) && part >= 0 && part <= whole;

/** Calls a person: what the service shows is not what was asked for. */
export function raiseDisagreement(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  return openReview(state, 'terms_disagree', {
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
  { type: 'PaymentPending' | 'PaymentAuthorized' | 'PaymentApproved' | 'PaymentDeclined' | 'PaymentExpired' }
>;

function openEventFor(observed: ObservedPayment, status: PaymentStatus): OpenEvent | undefined {
  const mask = observed.sanitizedMask === undefined ? {} : { sanitizedMask: cut(observed.sanitizedMask) };
  switch (status) {
    case 'init':
      return undefined;
    case 'pending':
      return observed.heldAmount > 0
        ? { type: 'PaymentAuthorized', data: { heldAmount: observed.heldAmount, ...mask } }
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
  const from = statusOfPhase(state.phase);
  if (from === status) return [];
  // Refunded is approved with everything given back: a picture of the time before the refund.
  if (from === 'refunded' && status === 'approved') return [];
  // Money that went back is the business of refunds: of ours on its way, or of one that was made elsewhere.
  if (from === 'approved' && status === 'refunded' && isExplainedByRefunds(state, observed)) return [];
  return revise(state, observed, status);
}

const isExplainedByRefunds = (state: Payment, observed: ObservedPayment): boolean =>
  undecidedRefund(state) !== undefined || observed.amount > state.refundedAmount;

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
    // Each revision is news, also one like another that a person has acknowledged.
    ...openReview({ ...state, acknowledged: [] }, 'final_status_revised', {
      ...{ from, to, observedAmount: observed.amount },
    }),
  ];
}

/** True where the service shows that the payment was paid, whatever was given back since. */
export const wasApproved = ({ status }: ObservedPayment): boolean =>
  status === 'approved' || status === 'refunded';
