/** Which resolutions a payment's review allows, and which reviews are resolved by a later observation. */
import { amountSchema } from '../money.ts';
import { events, inOrder, refuse, type Decision } from '../decision.ts';
import { unreachable } from '../invariant.ts';
import {
  findOpen,
  isOpen,
  openLatest,
  openReview,
  proposalFor,
  resolvedByAPerson,
  resolveWhere,
  type Evidence,
  type Resolution,
  type Review,
} from '../review.ts';
import { differsInAmountOnly } from '../observed-amount.ts';
import { inquiryNeedOf } from './inquiry-need.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import type { PaymentRefusal } from './payment-commands.ts';
import type { PaymentEvent, ReviewCode } from './payment-events.ts';
import { shownCodes } from './creation.ts';
import { amountOf, isPartOf } from './observation.ts';
import { isFinalPhase, statusOfPhase } from './payment-machine.ts';
import {
  evolve,
  isDecided,
  isPaymentAwaited,
  undecidedRefund,
  type Payment,
  type Refund,
} from './payment-state.ts';
import { isPaidPhase, observeGrowth, refundedIn, showsUnknownSum } from './refunds.ts';

const always: Record<ReviewCode, readonly Resolution[]> = {
  attempt_not_found: ['inquire_again'],
  final_status_revised: ['acknowledged'],
  refund_disagrees: ['inquire_again', 'acknowledged'],
  refund_unresolved: ['inquire_again', 'refund_made', 'refund_not_made'],
  second_payment_found: ['acknowledged'],
  service_not_readable: ['inquire_again', 'acknowledged'],
  only_here: ['inquire_again', 'acknowledged'],
  terms_disagree: ['inquire_again', 'acknowledged'],
  capture_unresolved: ['inquire_again'],
  unknown_status: ['inquire_again', 'acknowledged'],
  void_unresolved: ['inquire_again'],
};

/** What may be answered to a review, for the payment as it is. */
export function resolutionsOf(
  payment: Payment,
  review: Pick<Review<ReviewCode>, 'code' | 'evidence'>,
): readonly Resolution[] {
  const { code, evidence } = review;
  // An inquiry shows the sum, and not whose refund it is.
  const isOfRefund = code === 'refund_disagrees' && evidence['refundToken'] !== undefined;
  return [
    ...always[code].filter((each) => each !== 'inquire_again' || !isOfRefund),
    ...(mayBeUnmade(payment, code) ? (['payment_not_made'] as const) : []),
    ...(mayApplyObserved(payment, review) || mayTakeAll(payment, review)
      ? (['observed_terms_apply'] as const)
      : []),
  ];
}

/**
 * Only where nothing but the amount differs, of our own payment and while it is open, or approved: any other final one takes the amount
 * of a revision over by itself.
 */
function mayApplyObserved(
  payment: Payment,
  { code, evidence }: Pick<Review<ReviewCode>, 'code' | 'evidence'>,
): boolean {
  const { phase, terms, attempt, serviceToken } = payment;
  const { providerOrderNumber } = attempt;
  const own = { amount: amountOf(payment), currency: terms.currency, providerOrderNumber, serviceToken };
  return (
    code === 'terms_disagree' &&
    (isPaidPhase(payment) ? isShownPaid(evidence) && mayTakeSum(payment, evidence) : !isFinalPhase(phase)) &&
    evidence['serviceRefundToken'] === undefined &&
    differsInAmountOnly(evidence, own)
  );
}

/** The service said `refunded`, and no sum: a person may say that it was all. */
const mayTakeAll = (
  payment: Payment,
  { code, evidence }: Pick<Review<ReviewCode>, 'code' | 'evidence'>,
): boolean =>
  code === 'refund_disagrees' &&
  showsUnknownSum(evidence) &&
  isPaidPhase(payment) &&
  undecidedRefund(payment) === undefined;

const isShownPaid = (evidence: Evidence): boolean =>
  (evidence['observedStatus'] === 'approved' || evidence['observedStatus'] === 'refunded') &&
  isPartOf(refundedIn(evidence), Number(evidence['observedAmount']));

/** While a refund is under way, nobody can say yet what of the sum is that one: the evidence keeps it until the refund is in review, or over. */
const mayTakeSum = (payment: Payment, evidence: Evidence): boolean =>
  undecidedRefund(payment) === undefined ||
  isOpen(payment, 'refund_unresolved') ||
  refundedIn(evidence) <= payment.refundedAmount;

/** Only where the service does not show the payment at all: what it shows under other terms may still be paid. */
function mayBeUnmade({ phase }: Payment, code: ReviewCode): boolean {
  if (code === 'attempt_not_found') return phase === 'unresolved';
  // While a call is under way nobody can be sure of its outcome.
  return code === 'only_here' && !isFinalPhase(phase) && phase !== 'requested';
}

export function resolveReview(
  state: Payment,
  answer: ResolveReview<ReviewCode>,
): Decision<PaymentEvent, PaymentRefusal> {
  const { code, number, resolution, reason } = answer;
  const open = findOpen(state, { code, number });
  if (open === undefined) return refuse({ code: 'review_not_found' });
  const allowed = resolutionsOf(state, open);
  if (!allowed.includes(resolution)) return refuse({ code: 'resolution_not_allowed', allowed });
  const effect = effectOf(state, open, resolution);
  if (effect === undefined) return refuse({ code: 'review_not_found' });
  const proposed = proposalFor(open, answer);
  if (proposed !== undefined) return events(...proposed);
  const resolved: PaymentEvent = { type: 'ReviewResolved', data: { code, number, resolution, reason } };
  return events(
    ...inOrder<Payment, PaymentEvent>(state, evolve, [() => [resolved, ...effect], resolveAnswered]),
  );
}

const staysOpen: readonly ReviewCode[] = [...shownCodes, 'only_here', 'refund_unresolved'];

/** What the answer changes; undefined where its subject has been decided already. */
function effectOf(
  state: Payment,
  { code, evidence }: Review<ReviewCode>,
  resolution: Resolution,
): PaymentEvent[] | undefined {
  switch (resolution) {
    case 'inquire_again':
      // What may have been paid, or given back, is asked about until the service has answered, which may take long.
      return staysOpen.includes(code) ? openReview({ reviews: [], acknowledged: [] }, code, evidence) : [];
    // The fold takes the amount of an open one over, and the next inquiry the status.
    case 'observed_terms_apply':
      if (code === 'refund_disagrees') return observeGrowth(state, state.approvedAmount);
      return isPaidPhase(state) ? takeAmountShown(state, evidence) : [];
    case 'payment_not_made':
      return [endPayment(state)];
    case 'refund_made':
    case 'refund_not_made': {
      const refund = undecidedIn(state, evidence);
      return refund && endRefund(state, refund, { resolution, evidence });
    }
    case 'acknowledged':
    case 'payout_not_made':
      return [];
    default:
      return unreachable(resolution);
  }
}

/** Of what was approved another amount holds, and what the service showed as given back of it, from the answer on. */
function takeAmountShown(state: Payment, evidence: Evidence): PaymentEvent[] {
  const amount = amountSchema.safeParse(evidence['observedAmount']).data;
  if (amount === undefined) return [];
  const from = statusOfPhase(state.phase);
  const to = state.refundedAmount >= amount ? 'refunded' : 'approved';
  return [
    { type: 'FinalStatusRevised', data: { from, to, amount } },
    ...(undecidedRefund(state) === undefined
      ? observeGrowth(state, refundedIn(evidence))
      : showToRefundInReview(state, refundedIn(evidence))),
  ];
}

/** The review of the refund that is under way has what was shown as given back from then on. */
const showToRefundInReview = (state: Payment, observedRefundedAmount: number): PaymentEvent[] =>
  state.reviews
    .filter(({ code }) => code === 'refund_unresolved')
    .flatMap(({ evidence }) =>
      openLatest<ReviewCode>(state, 'refund_unresolved', { ...evidence, observedRefundedAmount }),
    );

/** A payment that the service never had has failed; one that it had and undid is declined. */
const endPayment = (payment: Payment): PaymentEvent =>
  isPaymentAwaited(payment)
    ? { type: 'PaymentFailed', data: { reason: 'resolved' } }
    : { type: 'PaymentDeclined', data: { declineReason: resolvedByAPerson } };

/** What else the service has shown as given back counts with the answer, too: whoever gave it has seen that. */
function endRefund(
  state: Payment,
  { refundToken }: Refund,
  { resolution, evidence }: { resolution: 'refund_made' | 'refund_not_made'; evidence: Evidence },
): PaymentEvent[] {
  const ended: PaymentEvent =
    resolution === 'refund_made'
      ? { type: 'RefundApproved', data: { refundToken } }
      : { type: 'RefundDeclined', data: { refundToken, errors: [], reason: 'resolved' } };
  const after = evolve(state, ended);
  const shown = refundedIn(evidence);
  if (!isPaidPhase(after) || !isPartOf(shown, after.approvedAmount)) return [ended];
  const isAskedAnew = (event: PaymentEvent) =>
    event.type === 'ReviewOpened' && event.data.evidence['refundToken'] === refundToken;
  return [ended, ...observeGrowth(after, shown).filter((event) => !isAskedAnew(event))];
}

/** The refund that the evidence names, while it is undecided. */
const undecidedIn = ({ refunds }: Payment, evidence: Evidence): Refund | undefined =>
  refunds.find((refund) => refund.refundToken === evidence['refundToken'] && !isDecided(refund));

const isStillInDoubt: Partial<Record<ReviewCode, (payment: Payment, evidence: Evidence) => boolean>> = {
  // A late answer may have ended the attempt that the review is about, and another one is under way.
  attempt_not_found: (payment, { attemptNumber }) =>
    isPaymentAwaited(payment) && payment.attempt.number === attemptNumber,
  refund_unresolved: (payment, evidence) => undecidedIn(payment, evidence) !== undefined,
  // It was taken for ours.
  second_payment_found: (payment, { serviceToken }) => payment.serviceToken !== serviceToken,
  service_not_readable: (payment) => inquiryNeedOf(payment) !== 'settled',
  capture_unresolved: ({ phase }) => phase === 'capturing',
  void_unresolved: ({ phase }) => phase === 'voiding',
};

/** Resolves the reviews about something whose outcome is known by now. */
export const resolveAnswered = (payment: Payment): PaymentEvent[] =>
  resolveWhere(
    payment,
    ({ code, evidence }) => isStillInDoubt[code]?.(payment, evidence) === false,
    'found',
    'the service reported it later',
  );
