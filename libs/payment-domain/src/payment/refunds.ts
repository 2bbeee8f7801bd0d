/** Refunds: submitted one at a time, reserved until they are decided, and told from one another by what the service shows. */
import { isAbout, openReview, openReviewPer, resolveWhere } from '../review.ts';
import type { Decision } from '../decision.ts';
import { unreachable } from '../invariant.ts';
import type {
  PaymentRefusal,
  RecordObservation,
  RecordRefundDeclined,
  RecordRefundOutcome,
  RefundOutcome,
  SubmitRefund,
} from './payment-commands.ts';
import { errorsMax, textLengthMax, type PaymentEvent } from './payment-events.ts';
import { wasApproved } from './observation.ts';
import { isFinalPhase, phaseAfter } from './payment-machine.ts';
import { isDecided, refundableAmount, undecidedRefund, type Payment, type Refund } from './payment-state.ts';

type RefundDecision = Decision<PaymentEvent, PaymentRefusal>;

/** How long the service may take to decide a refund that it has accepted, before a person is called, milliseconds. */
export const acceptedRefundPatienceMs = 3 * 24 * 60 * 60 * 1000;

// The replay check comes first: the same refund again writes nothing, another one under the same key is refused.
export function submitRefund(state: Payment, command: SubmitRefund): RefundDecision {
  const { refundToken, fingerprint, window } = command;
  const known = state.refunds.find((refund) => refund.refundToken === refundToken);
  if (known !== undefined)
    return known.fingerprint === fingerprint
      ? { kind: 'events', events: [] }
      : { kind: 'refused', refusal: { code: 'idempotency_key_reused' } };
  if (isFinalPhase(state.phase) && state.phase !== 'approved' && state.phase !== 'refunded')
    return { kind: 'refused', refusal: { code: 'payment_in_final_state' } };
  if (!isFinalPhase(state.phase)) return { kind: 'refused', refusal: { code: 'payment_not_refundable' } };
  const amount = command.amount ?? whatIsLeft(state);
  if (amount === undefined) return { kind: 'refused', refusal: { code: 'operation_in_progress' } };
  const left = refundableAmount(state);
  if (amount < 1 || amount > left)
    return { kind: 'refused', refusal: { code: 'refund_exceeds_amount', refundableAmount: left } };
  // One at a time: of two without an outcome nobody could tell which one the service shows.
  if (undecidedRefund(state) !== undefined)
    return { kind: 'refused', refusal: { code: 'operation_in_progress' } };
  const data = { refundToken, amount, fingerprint, ...window };
  return { kind: 'events', events: [{ type: 'RefundSubmitted', data }] };
}

/** All that is left, once it is known what that is. */
const whatIsLeft = (state: Payment): number | undefined =>
  undecidedRefund(state) === undefined ? refundableAmount(state) : undefined;

export function recordRefundOutcome(state: Payment, command: RecordRefundOutcome): PaymentEvent[] {
  const { refundToken, outcome } = command;
  const refund = state.refunds.find((each) => each.refundToken === refundToken);
  if (refund === undefined) return [];
  // A look was faster: what it found stands, and a decline that was told contradicts it.
  if (refund.state === 'approved' && outcome.kind === 'accepted' && isDeclineReported(state, outcome))
    return raiseDeclinedAfterApproval(state, refundToken);
  if (isDecided(refund) || refund.state === 'accepted') return [];
  switch (outcome.kind) {
    case 'accepted':
      return recordAccepted(state, refund, outcome);
    case 'refused':
      return [decline(refundToken, 'refused', outcome.errors)];
    case 'not-sent':
      return [decline(refundToken, 'not-sent')];
    case 'unknown':
      return giveUpWaiting(refund, outcome.reason);
    default:
      return unreachable(outcome);
  }
}

function recordAccepted(
  state: Payment,
  refund: Refund,
  accepted: Extract<RefundOutcome, { kind: 'accepted' }>,
): PaymentEvent[] {
  const { refundToken, amount } = refund;
  const { serviceRefundToken, status } = accepted;
  if (accepted.amount !== amount || accepted.currency !== state.terms.currency)
    return [
      ...giveUpWaiting(refund, 'the answer is about other money'),
      ...openReview(state, 'terms_disagree', {
        ...{ amount, currency: state.terms.currency, serviceRefundToken },
        ...{ observedAmount: accepted.amount, observedCurrency: accepted.currency },
      }),
    ];
  if (status === 'approved')
    return [
      { type: 'RefundApproved', data: { refundToken, serviceRefundToken } },
      ...(isDeclineReported(state, accepted) ? raiseDeclinedAfterApproval(state, refundToken) : []),
    ];
  // The decline was faster than this answer, which is older.
  if (status === 'declined' || isDeclineReported(state, accepted)) return [decline(refundToken, 'declined')];
  const isKnown = status === 'pending';
  return [
    { type: 'RefundAccepted', data: { refundToken, serviceRefundToken } },
    ...(isKnown ? [] : openReview(state, 'unknown_status', { observedStatus: status.slice(0, 100) })),
  ];
}

const isDeclineReported = (
  { refundDeclinesReported }: Payment,
  { serviceRefundToken }: { serviceRefundToken: string },
): boolean => refundDeclinesReported.includes(serviceRefundToken);

const decline = (
  refundToken: string,
  reason: 'refused' | 'not-sent' | 'declined',
  errors: Extract<RefundOutcome, { kind: 'refused' }>['errors'] = [],
): PaymentEvent => ({
  type: 'RefundDeclined',
  data: { refundToken, reason, errors: errors.slice(0, errorsMax) },
});

const giveUpWaiting = ({ refundToken, state }: Refund, reason: string): PaymentEvent[] =>
  state === 'submitted'
    ? [{ type: 'RefundUnresolved', data: { refundToken, reason: reason.slice(0, textLengthMax) } }]
    : [];

/** Words about refunds that none of ours is known to be, that are remembered at most; more tell nothing new. */
export const refundDeclinesReportedMax = 20;

/** Ends only the refund that the service has under just this token: a word about another one must not end this one. */
export function recordRefundDeclined(
  state: Payment,
  { serviceRefundToken }: RecordRefundDeclined,
): PaymentEvent[] {
  const refund = state.refunds.find((each) => each.serviceRefundToken === serviceRefundToken);
  if (refund === undefined) return rememberDecline(state, serviceRefundToken);
  if (refund.state === 'accepted') return [decline(refund.refundToken, 'declined')];
  return refund.state === 'approved' ? raiseDeclinedAfterApproval(state, refund.refundToken) : [];
}

/** The answer that tells whose token it is may still come. */
function rememberDecline(
  { phase, refundDeclinesReported }: Payment,
  serviceRefundToken: string,
): PaymentEvent[] {
  const isPossible = phaseAfter(phase, { type: 'RefundDeclineReported' }) !== undefined;
  const isFull = refundDeclinesReported.length >= refundDeclinesReportedMax;
  const isNews = !refundDeclinesReported.includes(serviceRefundToken);
  if (!isPossible || isFull || !isNews || serviceRefundToken.length > textLengthMax) return [];
  return [{ type: 'RefundDeclineReported', data: { serviceRefundToken } }];
}

const raiseDeclinedAfterApproval = (state: Payment, refundToken: string): PaymentEvent[] =>
  openReviewPer(state, 'refund_disagrees', { refundToken }, 'refundToken');

/**
 * What the refunded sum tells. Without a refund of ours on its way, what is more than we know of was made elsewhere;
 * with one, the sum decides it where it has grown by just its amount, and nothing else does: time alone proves nothing.
 */
export function observeRefunds(
  state: Payment,
  { observed, inquiredAt }: RecordObservation,
  isReadable: boolean,
): PaymentEvent[] {
  const refund = undecidedRefund(state);
  const isPaid = isReadable && isPaidPhase(state);
  const shown = refundedAmountOf(observed);
  if (refund === undefined) return isPaid ? observeExternalRefund(shown - state.refundedAmount) : [];
  // Whoever announced the call may still be waiting for its answer, which tells more than a look.
  if (refund.state === 'submitted' && inquiredAt < refund.answerBy) return [];
  const events = giveUpWaiting(refund, 'no outcome was recorded');
  const { refundToken, amount } = refund;
  if (isPaid && shown - state.refundedAmount === amount)
    return [...events, { type: 'RefundApproved', data: { refundToken } }];
  if (inquiredAt < refund.quietUntil + patienceMs(refund)) return events;
  // What cannot be read tells no sum, and keeps nobody from being called in time.
  const observedRefundedAmount = isReadable ? shown : null;
  const sums = { refundedAmount: state.refundedAmount, observedRefundedAmount };
  return [...events, ...openReview(state, 'refund_unresolved', { refundToken, amount, ...sums })];
}

const isPaidPhase = ({ phase }: Payment): boolean => phase === 'approved' || phase === 'refunded';

/** Money that we know to have gone back, and the service does not show: it has taken a refund back. */
export function observeRefundedSum(
  state: Payment,
  { observed, inquiredAt }: RecordObservation,
): PaymentEvent[] {
  if (!isPaidPhase(state) || !wasApproved(observed)) return [];
  const { refundedAmount } = state;
  const observedRefundedAmount = refundedAmountOf(observed);
  if (observedRefundedAmount >= refundedAmount)
    return resolveWhere(state, isAboutSums, 'found', 'the service told later');
  const approved = state.refunds.filter((refund) => refund.state === 'approved');
  // The sum may follow the approval only after a while. Of refunds made elsewhere nobody knows when that is over.
  if (approved.length === 0 || approved.some(({ quietUntil }) => inquiredAt < quietUntil)) return [];
  const sums = { refundedAmount, observedRefundedAmount };
  return openReviewPer(state, 'refund_disagrees', sums, 'refundToken');
}

const isAboutSums = (open: Payment['reviews'][number]): boolean =>
  open.code === 'refund_disagrees' && isAbout(open, 'refundToken', null);

const patienceMs = ({ state }: Refund): number => (state === 'accepted' ? acceptedRefundPatienceMs : 0);

const observeExternalRefund = (amount: number): PaymentEvent[] =>
  amount > 0 ? [{ type: 'ExternalRefundObserved', data: { amount } }] : [];

function refundedAmountOf({ status, amount, refundedAmount }: RecordObservation['observed']): number {
  if (status === 'refunded') return amount;
  return status === 'approved' ? refundedAmount : 0;
}
