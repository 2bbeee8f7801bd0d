/** The allowed resolutions of a payment's reviews, and the reviews that a later observation resolves. */
import { amountSchema, paymentStatusSchema } from '../money.ts';
import { events, refuse, type Decision } from '../decision.ts';
import { reopen, type RecordedDiscrepancy } from '../discrepancy.ts';
import { unreachable } from '../invariant.ts';
import {
  findOpen,
  openReview,
  proposalFor,
  resolvedByAPerson,
  resolveWhere,
  type Evidence,
  type Resolution,
  type Review,
} from '../review.ts';
import { omitUndefined } from '../values.ts';
import { inquiryNeedOf } from './inquiry-need.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import type { PaymentRefusal } from './payment-commands.ts';
import type { PaymentEvent, ReviewCode } from './payment-events.ts';
import { isOpenStatus, isPartOf, revise } from './observation.ts';
import { isFinalPhase, statusOfPhase } from './payment-machine.ts';
import { evolve, inSteps } from './payment-evolve.ts';
import {
  isDecided,
  isPaidPhase,
  isPaymentAwaited,
  undecidedRefund,
  type Payment,
  type Refund,
} from './payment-state.ts';
import { observeGrowth, refundedIn } from './refunds.ts';

const ofCalls: Record<Exclude<ReviewCode, 'discrepancy'>, readonly Resolution[]> = {
  attempt_not_found: ['check_again', 'payment_not_made'],
  refund_unresolved: ['check_again', 'refund_made', 'refund_not_made'],
  service_not_readable: ['check_again', 'acknowledged'],
  capture_unresolved: ['check_again'],
  void_unresolved: ['check_again'],
  dispute_opened: ['acknowledged', 'dispute_won', 'dispute_lost'],
};

/** The allowed resolutions of a review, in the payment's current state. */
export function resolutionsOf(
  payment: Payment,
  { code, number }: Pick<Review<ReviewCode>, 'code' | 'number'>,
): readonly Resolution[] {
  // While a call is under way its outcome is uncertain.
  if (code === 'attempt_not_found' && payment.phase !== 'unresolved') return ['check_again'];
  if (code !== 'discrepancy') return ofCalls[code];
  const about = payment.discrepancies.find((each) => each.number === number);
  if (about === undefined) return [];
  // An inquiry shows the sum, but not whose refund it is.
  if (about.refundToken !== undefined) return ['keep_ours'];
  const isAcceptable = acceptTheirs(payment, about) !== undefined;
  return isAcceptable ? ['accept_theirs', 'keep_ours', 'check_again'] : ['keep_ours', 'check_again'];
}

/** Events that make our record equal the provider's; undefined if impossible. */
function acceptTheirs(state: Payment, about: RecordedDiscrepancy): PaymentEvent[] | undefined {
  const { theirs, kind } = about;
  const isOurs =
    state.phase === 'failed'
      ? kind !== 'second_payment_found' && (state.serviceToken ?? about.serviceToken) === about.serviceToken
      : state.serviceToken === about.serviceToken;
  // First answer which refund the sum belongs to.
  if (!isOurs || undecidedRefund(state) !== undefined) return undefined;
  if (theirs === null) return isFinalPhase(state.phase) ? endPaid(state) : [endPayment(state)];
  const { providerOrderNumber } = state.attempt;
  const isOfThis =
    theirs.currency === state.terms.currency &&
    (theirs.orderNumber ?? providerOrderNumber) === providerOrderNumber &&
    paymentStatusSchema.safeParse(theirs.status).success &&
    amountSchema.safeParse(theirs.amount).success &&
    isPartOf(theirs.refundedAmount ?? 0, theirs.amount);
  if (!isOfThis) return undefined;
  // The fold accepts the amount of an open payment, and the next inquiry its status.
  if (!isFinalPhase(state.phase)) return [];
  return isOpenStatus(theirs.status) ? undefined : [revise(state, theirs, about.serviceToken)];
}

const endPaid = (state: Payment): PaymentEvent[] | undefined =>
  isPaidPhase(state)
    ? [
        {
          type: 'FinalStatusRevised',
          data: { from: statusOfPhase(state.phase), to: 'declined', declineReason: resolvedByAPerson },
        },
      ]
    : undefined;

export function resolveReview(
  state: Payment,
  answer: ResolveReview<ReviewCode>,
): Decision<PaymentEvent, PaymentRefusal> {
  const { code, number, resolution, reason, releases } = answer;
  const open = findOpen(state, { code, number });
  if (open === undefined) return refuse({ code: 'review_not_found' });
  const allowed = resolutionsOf(state, open);
  if (!allowed.includes(resolution)) return refuse({ code: 'resolution_not_allowed', allowed });
  const effect = effectOf(state, open, resolution);
  if (effect === undefined) return refuse({ code: 'review_not_found' });
  const proposed = proposalFor(open, answer);
  if (proposed !== undefined) return events(...proposed);
  const data = { code, number, resolution, reason, ...omitUndefined({ releases }) };
  const resolved: PaymentEvent = { type: 'ReviewResolved', data };
  return events(...inSteps(state, () => [resolved, ...effect], resolveAnswered));
}

/** The effect of the answer; undefined if its subject is already decided. */
function effectOf(
  state: Payment,
  { code, number, evidence }: Review<ReviewCode>,
  resolution: Resolution,
): PaymentEvent[] | undefined {
  const about = state.discrepancies.find((each) => each.number === number);
  switch (resolution) {
    case 'accept_theirs':
      return about && acceptTheirs(state, about);
    case 'check_again':
      if (about !== undefined) return reopen(about);
      return code === 'refund_unresolved'
        ? openReview({ reviews: [], acknowledged: [] }, code, evidence)
        : [];
    case 'payment_not_made':
      return [endPayment(state)];
    case 'refund_made':
    case 'refund_not_made': {
      const refund = undecidedIn(state, evidence);
      return refund && endRefund(state, refund, { resolution, evidence });
    }
    case 'dispute_won':
    case 'dispute_lost':
      return endDispute(state, evidence, resolution === 'dispute_won' ? 'DisputeWon' : 'DisputeLost');
    case 'keep_ours':
    case 'acknowledged':
    case 'payout_not_made':
      return [];
    default:
      return unreachable(resolution);
  }
}

/** A payment that the provider never had has failed; one that it had and undid is declined. */
const endPayment = (payment: Payment): PaymentEvent =>
  isPaymentAwaited(payment)
    ? { type: 'PaymentFailed', data: { reason: 'resolved' } }
    : { type: 'PaymentDeclined', data: { declineReason: resolvedByAPerson } };

/** The answer covers all refunds in the evidence: the person has seen them. */
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

/** At the recorded revision: a later record of the provider prevails. */
function endDispute(
  { disputes }: Payment,
  { disputeToken }: Evidence,
  type: 'DisputeWon' | 'DisputeLost',
): PaymentEvent[] | undefined {
  const open = disputes.find((each) => each.disputeToken === disputeToken && each.state === 'open');
  if (open === undefined) return undefined;
  const { amount, revision } = open;
  return [{ type, data: { disputeToken: open.disputeToken, amount, revision } }];
}

/** The refund in the evidence, while it is undecided. */
const undecidedIn = ({ refunds }: Payment, evidence: Evidence): Refund | undefined =>
  refunds.find((refund) => refund.refundToken === evidence['refundToken'] && !isDecided(refund));

const isStillInDoubt: Partial<Record<ReviewCode, (payment: Payment, evidence: Evidence) => boolean>> = {
  // A late answer may have ended the reviewed attempt, with another one under way.
  attempt_not_found: (payment, { attemptNumber }) =>
    isPaymentAwaited(payment) && payment.attempt.number === attemptNumber,
  refund_unresolved: (payment, evidence) => undecidedIn(payment, evidence) !== undefined,
  service_not_readable: (payment) => inquiryNeedOf(payment) !== 'settled',
  capture_unresolved: ({ phase }) => phase === 'capturing',
  void_unresolved: ({ phase }) => phase === 'voiding',
  dispute_opened: ({ disputes }, { disputeToken }) =>
    disputes.some((each) => each.disputeToken === disputeToken && each.state === 'open'),
};

/** Resolves reviews whose outcome is known by now. */
export const resolveAnswered = (payment: Payment): PaymentEvent[] =>
  resolveWhere(payment, ({ code, evidence }) => isStillInDoubt[code]?.(payment, evidence) === false);
