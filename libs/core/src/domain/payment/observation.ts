/** Turns a status inquiry into events of a payment: progress or a discrepancy. */
import { amountSchema, paymentStatusSchema, type PaymentStatus } from '../money.ts';
import { endDeferredOfOwn } from '../deferred-callback.ts';
import {
  endDiscrepancy,
  findDiscrepancy,
  isPaid,
  isRefundedByWord,
  observeDiscrepancy,
  theirSide,
  worstCaseOf,
  type DiscrepancyKind,
  type Side,
} from '../discrepancy.ts';
import { unreachable } from '../invariant.ts';
import { isOpen, resolvedByAPerson } from '../review.ts';
import { isStale, type Inquired } from '../shared-inputs.ts';
import { cut, omitUndefined } from '../values.ts';
import { observeCaptureOrVoid } from './capture-or-void.ts';
import type { ObservedPayment, RecordObservation, ReportedPayment } from './payment-commands.ts';
import type { PaymentEvent, PaymentEventOf } from './payment-events.ts';
import { isFinalPhase, statusOfPhase } from './payment-machine.ts';
import { inSteps } from './payment-evolve.ts';
import {
  amountOf,
  isAllowed,
  isPaidPhase,
  refundedElsewhere,
  undecidedRefund,
  type Payment,
} from './payment-state.ts';
import { observeRefunds } from './refunds.ts';

/** An answered inquiry: progress, refunds, discrepancies, and the call in flight. */
export const observe = (state: Payment, observation: RecordObservation): PaymentEvent[] =>
  inSteps(
    state,
    (payment) => observePayment(payment, observation),
    (payment) => observeCaptureOrVoid(payment, observation, isUnderstood(state, observation.observed)),
    (payment) => endDeferredOfOwn(payment, observation.observed.serviceToken),
  );

/** As {@link observe}, for a payment that was just found, or that the answer to a capture or void shows. */
export const observePayment = (
  state: Payment,
  observation: Pick<RecordObservation, 'observed'> & Inquired,
): PaymentEvent[] =>
  inSteps(
    state,
    (payment) => observeProgress(payment, observation.observed),
    (payment) => observeRefunds(payment, observation),
    (payment) => compare(payment, observation),
  );

/** A missing amount or currency cannot disagree: ours is used. */
export const withTermsOf = (state: Payment, reported: ReportedPayment): ObservedPayment => ({
  ...reported,
  amount: reported.amount ?? amountOf(state),
  currency: reported.currency ?? state.terms.currency,
});

type Reported = Pick<ObservedPayment, 'status' | 'amount'> & { refundedAmount?: number | null | undefined };

/** After a partial refund some deployments report `refunded`: a shown sum outranks the status. */
export function statusOf(shown: Reported): string {
  if (!isPaid(shown) || isRefundedByWord(shown)) return shown.status;
  const { status, amount, refundedAmount } = shown;
  const sum = refundedAmount ?? 0;
  const isAll = status === 'refunded' ? sum >= amount : sum > 0 && sum === amount;
  return isAll ? 'refunded' : 'approved';
}

/** True if the status is known, and the order is the one inquired about. */
export const isUnderstood = (state: Payment, observed: ObservedPayment): boolean =>
  paymentStatusSchema.safeParse(observed.status).success && agrees(state, observed);

/**
 * Money of another amount, currency or order does not belong to this payment. Exception: if neither side took money, the
 * amount has no meaning.
 */
function agrees(state: Payment, observed: ObservedPayment): boolean {
  const { providerOrderNumber } = state.attempt;
  const isAmountFree = isFinalPhase(state.phase) && !(state.approvedAmount > 0 && isPaid(observed));
  return (
    (isAmountFree ? amountSchema.safeParse(observed.amount).success : observed.amount === amountOf(state)) &&
    isPartOf(observed.authorizedAmount ?? 0, observed.amount) &&
    isPartOf(observed.refundedAmount ?? 0, observed.amount) &&
    observed.currency === state.terms.currency &&
    (observed.orderNumber ?? providerOrderNumber) === providerOrderNumber
  );
}

export const isPartOf = (part: number, whole: number): boolean =>
  Number.isSafeInteger(part) && part >= 0 && part <= whole;

/** The provider's refunded sum; undefined if it shows none, or `refunded` and 0: then any part may have been refunded. */
export function refundedAmountOf({ status, refundedAmount }: Omit<Reported, 'amount'>): number | undefined {
  if (status === 'approved' || status === 'refunded')
    return isRefundedByWord({ status, refundedAmount }) ? undefined : (refundedAmount ?? undefined);
  return 0;
}

/** A transition that the machine does not allow is stale (pending after authorized): it adds nothing. */
function observeProgress(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  if (!isUnderstood(state, observed)) return [];
  const { recurringToken } = observed;
  const isTokenNew =
    state.terms.recurring === true && state.recurringToken === undefined && recurringToken !== undefined;
  const event = isFinalPhase(state.phase) ? undefined : progressTo(state, observed);
  return [
    ...(event !== undefined && isAllowed(state, { type: event.type }) ? [event] : []),
    ...(isTokenNew ? [{ type: 'RecurringTokenIssued' as const, data: { recurringToken } }] : []),
  ];
}

type Progress = PaymentEventOf<
  | 'PaymentPending'
  | 'PaymentAuthorized'
  | 'PaymentApproved'
  | 'PaymentDeclined'
  | 'PaymentVoided'
  | 'PaymentExpired'
>;

function progressTo({ captureOrVoid }: Payment, observed: ObservedPayment): Progress | undefined {
  const status = observed.status as PaymentStatus;
  const mask = maskOf(observed);
  const { authorizedAmount = 0 } = observed;
  switch (status) {
    case 'init':
      return undefined;
    case 'pending':
      return authorizedAmount > 0
        ? { type: 'PaymentAuthorized', data: { authorizedAmount, ...mask } }
        : { type: 'PaymentPending', data: {} };
    case 'approved':
    case 'refunded':
      return { type: 'PaymentApproved', data: { amount: observed.amount, ...mask } };
    case 'declined':
      return captureOrVoid?.operation === 'void'
        ? { type: 'PaymentVoided', data: mask }
        : { type: 'PaymentDeclined', data: { ...declineReasonOf(observed), ...mask } };
    case 'expired':
      return { type: 'PaymentExpired', data: {} };
    default:
      return unreachable(status);
  }
}

export const maskOf = ({ sanitizedMask }: ObservedPayment) =>
  omitUndefined({ sanitizedMask: sanitizedMask && cut(sanitizedMask) });

export const declineReasonOf = ({ declineReason }: ObservedPayment) =>
  omitUndefined({ declineReason: declineReason && cut(declineReason) });

type Compared = Pick<RecordObservation, 'observed'> & Inquired;
type Verdict = DiscrepancyKind | 'agrees' | 'says-nothing';

/** Records a discrepancy after progress and refunds are recorded, or ends it. */
function compare(state: Payment, compared: Compared): PaymentEvent[] {
  const verdict = verdictOn(state, compared);
  if (verdict === 'says-nothing') return [];
  const { observed } = compared;
  const { serviceToken } = observed;
  if (verdict === 'agrees') return endDiscrepancy(state, serviceToken);
  if (verdict === 'final_status_revised' && isFollowed(state, observed))
    return [revise(state, observed, serviceToken), ...endDiscrepancy(state, serviceToken)];
  const sides = { ours: ourSide(state), theirs: theirSide(observed) };
  return observeDiscrepancy(state, { kind: verdict, operation: 'payment', serviceToken, ...sides });
}

function verdictOn(state: Payment, compared: Compared): Verdict {
  const { observed } = compared;
  if (!paymentStatusSchema.safeParse(observed.status).success) return 'unknown_status';
  if (!agrees(state, observed)) return 'terms_disagree';
  if (!isFinalPhase(state.phase)) return 'agrees';
  if (isOpenStatus(observed.status)) return verdictOnOpen(state, compared);
  if (isPaidPhase(state) && isPaid(observed)) return verdictOnSum(state, compared);
  const hasNeverBeen = state.phase === 'failed' && !isPaid(observed);
  return hasNeverBeen || statusOfPhase(state.phase) === observed.status ? 'agrees' : 'final_status_revised';
}

/** A payment that failed here follows the provider's final status. A paid payment changes only if a person accepts that. */
const isFollowed = (state: Payment, { status, amount }: ObservedPayment): boolean =>
  !isPaidPhase(state) && !isOpenStatus(status) && (!isPaid({ status }) || amount === state.terms.amount);

/** The provider's final status becomes ours. */
export function revise(
  state: Payment,
  theirs: Pick<ObservedPayment, 'status' | 'amount'> & { refundedAmount?: number | null | undefined },
  observedToken: string,
): PaymentEvent {
  const { amount } = theirs;
  const from = statusOfPhase(state.phase);
  const serviceToken = state.serviceToken === undefined ? observedToken : undefined;
  const token = omitUndefined({ serviceToken });
  if (!isPaid(theirs)) {
    const to = theirs.status === 'expired' ? 'expired' : 'declined';
    return { type: 'FinalStatusRevised', data: { from, to, ...token } };
  }
  const shown = isRefundedByWord(theirs) ? amount : theirs.refundedAmount;
  const refundedAmount = Math.min(amount, shown ?? state.refundedAmount);
  const to = refundedAmount >= amount ? 'refunded' : 'approved';
  return { type: 'FinalStatusRevised', data: { from, to, amount, refundedAmount, ...token } };
}

export const isOpenStatus = (status: string): boolean => status === 'init' || status === 'pending';

/** Ours is final and theirs is open: a stale read, a page that no customer received, or a discrepancy. */
function verdictOnOpen(state: Payment, { observed, ...inquired }: Compared): Verdict {
  const { phase, terms, approvedAmount, declineReason } = state;
  const isUnderWay = observed.status === 'pending' || (observed.authorizedAmount ?? 0) > 0;
  const hasFailed = phase === 'failed';
  const mayTakeMoney =
    isUnderWay ||
    approvedAmount > 0 ||
    declineReason === resolvedByAPerson ||
    (hasFailed && terms.kind !== 'hosted');
  return mayTakeMoney && (hasFailed || !isStale(inquired)) ? 'final_status_revised' : 'says-nothing';
}

/** A sum larger than ours belongs to the refund in flight, or was recorded before this; a smaller one may still grow. */
function verdictOnSum(state: Payment, { observed, ...inquired }: Compared): Verdict {
  const { refundedAmount, approvedAmount, refunds } = state;
  const shown = refundedAmountOf(observed);
  // While a refund is in flight, the sum may be its effect; in review, it may be another refund as well.
  const isInFlight = undecidedRefund(state) !== undefined && !isOpen(state, 'refund_unresolved');
  if (shown === undefined && refundedAmount < approvedAmount) {
    if (isRefundedByWord(observed) && refundedAmount === 0)
      return isInFlight ? 'says-nothing' : 'refund_disagrees';
    const isAboutSum = findDiscrepancy(state, observed.serviceToken)?.kind === 'refund_disagrees';
    return isAboutSum ? 'says-nothing' : 'agrees';
  }
  const isThere = shown === undefined ? observed.status === 'refunded' : shown >= refundedAmount;
  if (isThere)
    return shown !== undefined && shown > refundedAmount && !isInFlight ? 'refund_disagrees' : 'agrees';
  // The sum may lag behind the approval, or predate a refund that was made elsewhere.
  const approved = refunds.filter((refund) => refund.state === 'approved');
  const mayFollow =
    approved.length === 0
      ? isStale(inquired)
      : approved.some(({ quietUntil }) => inquired.inquiredAt < quietUntil);
  return mayFollow ? 'says-nothing' : 'refund_disagrees';
}

export const ourSide = (payment: Payment): Side => ({
  status: statusOfPhase(payment.phase),
  amount: amountOf(payment),
  currency: payment.terms.currency,
  refundedAmount: payment.refundedAmount,
  authorizedAmount: payment.authorizedAmount,
  orderNumber: payment.attempt.providerOrderNumber,
});

/** Minor units of the rest that must not be paid out or refunded: the worst cases of its discrepancies. */
export function reservedByDiscrepancies(payment: Payment): number {
  const reserved = { own: 0, ofRefunds: 0 };
  const ours = ourSide(payment);
  for (const { serviceToken, refundToken, theirs, state } of payment.discrepancies) {
    if (state === 'released') continue;
    if (refundToken !== undefined) {
      const elsewhere = { ...ours, refundedAmount: Math.max(0, refundedElsewhere(payment)) };
      const worst = worstCaseOf({ operation: 'payment', ours: elsewhere, theirs });
      reserved.ofRefunds = Math.max(reserved.ofRefunds, worst);
    } else if (serviceToken === payment.serviceToken)
      reserved.own = worstCaseOf({ operation: 'payment', ours, theirs });
  }
  return reserved.own + reserved.ofRefunds;
}
