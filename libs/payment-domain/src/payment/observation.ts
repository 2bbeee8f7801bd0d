/** What a retrieved payment shows that was not known. An inquiry that finds no change gives no event. */
import { amountSchema, paymentStatusSchema, type PaymentStatus } from '../money.ts';
import { unreachable } from '../invariant.ts';
import { mayBeOlder } from '../older-picture.ts';
import {
  endDoubtsAfter,
  isAboutToken,
  openInstead,
  openLatest,
  openReviewPer,
  resolvedByAPerson,
} from '../review.ts';
import { cut, omitUndefined } from '../values.ts';
import type { ObservedPayment, RecordObservation, ShownPayment } from './payment-commands.ts';
import type { PaymentEvent, PaymentEventOf, ReviewCode } from './payment-events.ts';
import { isFinalPhase, statusOfPhase } from './payment-machine.ts';
import { isAllowed, undecidedRefund, type Payment } from './payment-state.ts';

/** Events that make the payment's status agree with what the service shows, or a review where it must not. */
export function observePayment(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  const status = paymentStatusSchema.safeParse(statusOf(observed));
  if (!status.success)
    return openLatest<ReviewCode>(state, 'unknown_status', {
      observedStatus: observed.status,
      ...sumsShown(observed),
      observedServiceToken: observed.serviceToken,
    });
  if (!agrees(state, observed)) return openDisagreement(state, observed);
  const events = isFinalPhase(state.phase)
    ? observeFinal(state, observed, status.data)
    : observeOpen(state, observed, status.data);
  if (events === undefined) return [];
  const doubts = endDoubtsAfter(state, events, { serviceToken: observed.serviceToken, isOpenAgain });
  return [...events, ...issueRecurringToken(state, observed), ...doubts];
}

/** An amount or a currency that the service does not show cannot disagree: the status is about the payment that was asked for. */
export const withTermsOf = (state: Payment, shown: ShownPayment): ObservedPayment => ({
  ...shown,
  amount: shown.amount ?? amountOf(state),
  currency: shown.currency ?? state.terms.currency,
});

type Shown = Pick<ObservedPayment, 'status' | 'amount' | 'refundedAmount'>;

/** After a partial refund some deployments report `refunded`: where a sum is shown it is believed, and not the word. */
export const statusOf = ({ status, amount, refundedAmount }: Shown): string =>
  status === 'refunded' && refundedAmount !== undefined && refundedAmount > 0 && refundedAmount < amount
    ? 'approved'
    : status;

const isOpenAgain = ({ code, evidence }: Payment['reviews'][number]): boolean =>
  code === 'final_status_revised' && isOpenStatus(String(evidence['to']));

function issueRecurringToken(
  { terms, recurringToken: known }: Payment,
  observed: ObservedPayment,
): PaymentEvent[] {
  const { recurringToken } = observed;
  if (terms.recurring !== true || known !== undefined || recurringToken === undefined) return [];
  return [{ type: 'RecurringTokenIssued', data: { recurringToken } }];
}

/**
 * Money of another amount, currency or order is not this payment's: it is not booked here, a review opens. The one
 * exception is a final payment that an operator revises, to or from approved, with another amount.
 */
function agrees(state: Payment, observed: ObservedPayment): boolean {
  const { providerOrderNumber } = state.attempt;
  const isApprovedInBoth = state.approvedAmount > 0 && wasApproved(observed);
  const isAmountFree = isFinalPhase(state.phase) && !isApprovedInBoth;
  return (
    (isAmountFree ? amountSchema.safeParse(observed.amount).success : observed.amount === amountOf(state)) &&
    isPartOf(observed.authorizedAmount ?? 0, observed.amount) &&
    isPartOf(observed.refundedAmount ?? 0, observed.amount) &&
    observed.currency === state.terms.currency &&
    (observed.orderNumber ?? providerOrderNumber) === providerOrderNumber
  );
}

/** True where what the service shows is of a status that we know and about the payment that was asked for. */
export const isUnderstood = (state: Payment, observed: ObservedPayment): boolean =>
  paymentStatusSchema.safeParse(observed.status).success && agrees(state, observed);

/** What is approved, or was asked for. */
export const amountOf = (state: Payment): number =>
  state.approvedAmount > 0 ? state.approvedAmount : state.terms.amount;

export const isPartOf = (part: number, whole: number): boolean =>
  Number.isSafeInteger(part) && part >= 0 && part <= whole;

/** Opens a review: what the service shows is not what was asked for. */
export function openDisagreement(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  return openLatest<ReviewCode>(state, 'terms_disagree', {
    amount: amountOf(state),
    currency: state.terms.currency,
    providerOrderNumber: state.attempt.providerOrderNumber,
    observedStatus: observed.status,
    ...sumsShown(observed),
    observedOrderNumber: observed.orderNumber ?? null,
    observedServiceToken: observed.serviceToken,
  });
}

/** The refunded sum that the service shows; undefined where it shows none, or `refunded` and 0: then any part may have gone back. */
export function refundedAmountOf({ status, refundedAmount }: Omit<Shown, 'amount'>): number | undefined {
  if (status === 'refunded') return refundedAmount === 0 ? undefined : refundedAmount;
  return status === 'approved' ? refundedAmount : 0;
}

/** True where the service says that money went back, and not how much. */
export const isRefundedByWord = (shown: Omit<Shown, 'amount'>): boolean =>
  shown.status === 'refunded' && refundedAmountOf(shown) === undefined;

const sumsShown = (observed: ObservedPayment) => ({
  observedAmount: observed.amount,
  observedAuthorizedAmount: observed.authorizedAmount ?? null,
  observedRefundedAmount: (isRefundedByWord(observed) ? undefined : observed.refundedAmount) ?? null,
  observedCurrency: observed.currency,
});

function observeOpen(state: Payment, observed: ObservedPayment, status: PaymentStatus): PaymentEvent[] {
  const event = openEventFor(state, observed, status);
  // What the machine does not allow here is an older state than ours (pending after authorized): it adds nothing.
  return event !== undefined && isAllowed(state, { type: event.type }) ? [event] : [];
}

type OpenEvent = PaymentEventOf<
  | 'PaymentPending'
  | 'PaymentAuthorized'
  | 'PaymentApproved'
  | 'PaymentDeclined'
  | 'PaymentVoided'
  | 'PaymentExpired'
>;

function openEventFor(
  { captureOrVoid }: Payment,
  observed: ObservedPayment,
  status: PaymentStatus,
): OpenEvent | undefined {
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

/** Undefined of a picture from before it was final: that says nothing about what is in doubt since, either. */
function observeFinal(
  state: Payment,
  observed: ObservedPayment,
  status: PaymentStatus,
): PaymentEvent[] | undefined {
  // An older status never reverts a final one.
  if (isOpenStatus(status)) return undefined;
  const from = statusOfPhase(state.phase);
  if (from === status) return [];
  // Refunded is approved with everything refunded: this is a state from before the refund.
  if (from === 'refunded' && status === 'approved') return [];
  // Money that went back belongs to refunds: to ours in flight, or to one that was made elsewhere.
  if (from === 'approved' && status === 'refunded' && isExplainedByRefunds(state, observed)) return [];
  return revise(state, observed, status);
}

type OpenStatus = Extract<PaymentStatus, 'init' | 'pending'>;
const isOpenStatus = (status: string): status is OpenStatus => status === 'init' || status === 'pending';

/**
 * Opens a review: what has ended here is under way at the service, and that is no older picture. So is what waits to be paid there where
 * it holds money, was approved, or was called not made by somebody.
 */
export function observeOpenAgain(state: Payment, observation: RecordObservation): PaymentEvent[] {
  const { status, authorizedAmount = 0, serviceToken } = observation.observed;
  // Of one that has failed a search shows it as another one.
  const isUnderWay = authorizedAmount > 0 || (status === 'pending' && state.phase !== 'failed');
  const isAnother = isUnderWay || state.approvedAmount > 0 || state.declineReason === resolvedByAPerson;
  if (!isFinalPhase(state.phase) || !isOpenStatus(status) || !isAnother || mayBeOlder(observation)) return [];
  const evidence = {
    from: statusOfPhase(state.phase),
    to: status,
    observedAuthorizedAmount: observation.observed.authorizedAmount ?? null,
    observedServiceToken: serviceToken,
  };
  const alike = { ...state, reviews: state.reviews.filter(isAboutToken(serviceToken)) };
  return openReviewPer<ReviewCode>(alike, 'to', 'final_status_revised', evidence);
}

const isExplainedByRefunds = (state: Payment, observed: ObservedPayment): boolean =>
  undecidedRefund(state) !== undefined || observed.amount > state.refundedAmount;

function revise(
  state: Payment,
  observed: ObservedPayment,
  to: Exclude<PaymentStatus, OpenStatus>,
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
    // Each revision opens a review, even if a person acknowledged one like it.
    ...openInstead<ReviewCode>(
      state,
      'final_status_revised',
      { from, to, observedAmount: observed.amount },
      observed.serviceToken,
    ),
  ];
}

/** True where the service shows that the payment was approved, whatever was refunded since. */
export const wasApproved = ({ status }: ObservedPayment): boolean =>
  status === 'approved' || status === 'refunded';
