/** What of a payment counts to its team's position while something about it is in review. */
import { isAboutToken, refundedElsewhere, showsUnknownSum, type Payment } from '@tollgate/payment-domain';

/**
 * What is left of it for certain: the provider shows less of it, more of it given back, or that it is not paid any more, and nobody has said
 * yet what holds. Evidence without sums (earlier releases had none of an unknown status) says nothing.
 */
export function leftForCertain(payment: Payment, { taken, gone }: { taken: number; gone: number }): bigint {
  const { reviews, serviceToken, terms, refundedAmount } = payment;
  const reserved = gone - refundedAmount;
  const ours = reviews
    .filter(isAboutToken(serviceToken))
    // The evidence of a refund has the amount of that.
    .filter(({ evidence }) => evidence['serviceRefundToken'] === undefined)
    .map((each) => ({ ...each, isOfOurCurrency: isOf(terms.currency, each.evidence) }));
  // The refund that is under way may come on top.
  const shownGone = Math.max(0, ...ours.map(shownRefunded)) + reserved;
  const goneAsShown = Math.max(gone + madeAfterAll(payment), Math.min(taken, shownGone));
  const kept = Math.min(taken, ...ours.map((each) => keptAsShown(each, { taken, gone: goneAsShown })));
  return BigInt(kept) - BigInt(goneAsShown);
}

type Review = Payment['reviews'][number];
type ShownReview = Review & { isOfOurCurrency: boolean };

const isOf = (currency: string, evidence: Review['evidence']): boolean =>
  (evidence['observedCurrency'] ?? currency) === currency;
const showsSums: ReadonlySet<string> = new Set([
  ...['terms_disagree', 'unknown_status', 'refund_unresolved', 'refund_disagrees'],
]);

/** Of a sum that is none, or not shown, as much as may be meant by it. */
function shownRefunded({ code, evidence, isOfOurCurrency }: ShownReview): number {
  const shown = evidence['observedRefundedAmount'];
  if (!showsSums.has(code) || !isOfOurCurrency) return 0;
  if (showsUnknownSum(evidence)) return Number.MAX_SAFE_INTEGER;
  if (typeof shown !== 'number' || shown <= 0) return 0;
  return Math.min(Math.ceil(shown), Number.MAX_SAFE_INTEGER);
}

/**
 * Refunds that a person called not made and that the provider has accepted, as far as they are not in what has gone back elsewhere since:
 * what went back before one was accepted is of those before it.
 */
function madeAfterAll(payment: Payment): number {
  const accepted = payment.reviews
    .filter(
      ({ code, evidence }) => code === 'refund_disagrees' && evidence['serviceRefundToken'] !== undefined,
    )
    .map(({ evidence: { refundToken, refundedElsewhere: before } }) => ({
      amount: payment.refunds.find((refund) => refund.refundToken === refundToken)?.amount ?? 0,
      before: typeof before === 'number' ? before : Infinity,
    }))
    .toSorted((one, other) => one.before - other.before);
  const now = refundedElsewhere(payment);
  return accepted.reduce((held, { amount, before }, index) => {
    const next = Math.min(accepted[index + 1]?.before ?? now, now);
    return Math.max(0, held + amount - Math.max(0, next - before));
  }, 0);
}

function keptAsShown(
  { code, evidence, isOfOurCurrency }: ShownReview,
  { taken, gone }: { taken: number; gone: number },
): number {
  const { observedAmount: shown, observedStatus: status = 'approved', to } = evidence;
  const isOpenAgain = code === 'final_status_revised' && (to === 'pending' || to === 'init');
  const isUnknown = code === 'unknown_status' && shown !== undefined;
  const isDisagreeing = code === 'terms_disagree' && typeof shown === 'number';
  const isPaid = (status === 'approved' || status === 'refunded') && isOfOurCurrency;
  // Nothing more than what has gone back.
  if (isOpenAgain || isUnknown || code === 'only_here' || (isDisagreeing && !isPaid))
    return Math.min(taken, gone);
  return isDisagreeing ? Math.max(0, Math.floor(shown)) : taken;
}
