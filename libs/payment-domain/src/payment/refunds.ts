/** Refunds: one at a time, reserved until they are decided, recognised by the refunded sum that the service shows. */
import { events, refuse, type Decision } from '../decision.ts';
import {
  callRules,
  endCall,
  leaveUnresolved,
  settleCall,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import { isAbout, openReview, openReviewPer, resolveWhere } from '../review.ts';
import { cut, textLengthMax } from '../values.ts';
import { wasApproved } from './observation.ts';
import type {
  AcceptedRefund,
  PaymentRefusal,
  RecordObservation,
  RecordRefundDeclined,
  RecordRefundOutcome,
  SubmitRefund,
} from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import { isFinalPhase } from './payment-machine.ts';
import {
  isAllowed,
  isDecided,
  refundableAmount,
  undecidedRefund,
  type Payment,
  type Refund,
} from './payment-state.ts';

// The replay check comes first: the same refund again writes nothing, another one under the same key is refused.
export function submitRefund(state: Payment, command: SubmitRefund): Decision<PaymentEvent, PaymentRefusal> {
  const { refundToken, fingerprint, window } = command;
  const known = state.refunds.find((refund) => refund.refundToken === refundToken);
  if (known !== undefined)
    return known.fingerprint === fingerprint ? events() : refuse({ code: 'idempotency_key_reused' });
  const { phase } = state;
  if (!isFinalPhase(phase)) return refuse({ code: 'payment_not_refundable' });
  if (phase !== 'approved' && phase !== 'refunded') return refuse({ code: 'payment_in_final_state' });
  const isAnotherUndecided = undecidedRefund(state) !== undefined;
  // All that is left is not known while another refund is undecided.
  if (command.amount === undefined && isAnotherUndecided) return refuse({ code: 'operation_in_progress' });
  const left = refundableAmount(state);
  const { amount = left } = command;
  if (amount < 1 || amount > left) return refuse({ code: 'refund_exceeds_amount', refundableAmount: left });
  // One at a time: of two without an outcome nobody could say which one the service shows.
  if (isAnotherUndecided) return refuse({ code: 'operation_in_progress' });
  return events({ type: 'RefundSubmitted', data: { refundToken, amount, fingerprint, ...window } });
}

/** A refund without an outcome as a call in flight. */
const refundInFlight = (state: Payment, refund: Refund): CallInFlight<PaymentEvent, AcceptedRefund> => {
  const { refundToken } = refund;
  return {
    ...refund,
    isUnresolved: refund.state !== 'submitted',
    unresolved: (reason) => ({ type: 'RefundUnresolved', data: { refundToken, reason } }),
    accepted: (answer) => recordAccepted(state, refund, answer),
    refused: ({ errors }) => [{ type: 'RefundDeclined', data: { refundToken, reason: 'refused', errors } }],
    notSent: () => [{ type: 'RefundDeclined', data: { refundToken, reason: 'not-sent', errors: [] } }],
  };
};

export function recordRefundOutcome(
  state: Payment,
  { refundToken, outcome }: RecordRefundOutcome,
): PaymentEvent[] {
  const refund = state.refunds.find((each) => each.refundToken === refundToken);
  if (refund === undefined) return [];
  // An inquiry was faster: what it found stands, and a decline that was reported contradicts it.
  if (refund.state === 'approved' && outcome.kind === 'accepted' && isDeclineReported(state, outcome))
    return openDeclinedAfterApproval(state, refundToken);
  // A person gave it up, and the service made it after all: money has left that our books do not have.
  if (refund.declined?.reason === 'resolved' && outcome.kind === 'accepted')
    return openAcceptedAfterAll(state, refund, outcome);
  if (isDecided(refund) || refund.state === 'accepted') return [];
  return endCall(refundInFlight(state, refund), outcome);
}

const openAcceptedAfterAll = (
  state: Payment,
  { refundToken }: Refund,
  { serviceRefundToken, status }: AcceptedRefund,
): PaymentEvent[] =>
  status === 'declined'
    ? []
    : openReviewPer(state, 'refundToken', 'refund_disagrees', {
        ...{ refundToken, serviceRefundToken, observedStatus: cut(status) },
      });

function recordAccepted(state: Payment, refund: Refund, accepted: AcceptedRefund): PaymentEvent[] {
  const { refundToken, amount } = refund;
  const { serviceRefundToken, status } = accepted;
  const { currency } = state.terms;
  if (accepted.amount !== amount || accepted.currency !== currency)
    return [
      ...leaveUnresolved(refundInFlight(state, refund), 'the answer is about other money'),
      ...openReview(state, 'terms_disagree', {
        ...{ amount, currency, serviceRefundToken },
        ...{ observedAmount: accepted.amount, observedCurrency: accepted.currency },
      }),
    ];
  const isDeclined = isDeclineReported(state, accepted);
  if (status === 'approved')
    return [
      { type: 'RefundApproved', data: { refundToken, serviceRefundToken } },
      ...(isDeclined ? openDeclinedAfterApproval(state, refundToken) : []),
    ];
  // The reported decline was faster than this answer, which is older.
  if (status === 'declined' || isDeclined) return [declinedByService(refundToken)];
  return [
    { type: 'RefundAccepted', data: { refundToken, serviceRefundToken } },
    ...(status === 'pending'
      ? []
      : openReview(state, 'unknown_status', { observedStatus: status.slice(0, 100) })),
  ];
}

const isDeclineReported = (
  { refundDeclinesReported }: Payment,
  { serviceRefundToken }: Pick<AcceptedRefund, 'serviceRefundToken'>,
): boolean => refundDeclinesReported.includes(serviceRefundToken);

const declinedByService = (refundToken: string): PaymentEvent => ({
  type: 'RefundDeclined',
  data: { refundToken, reason: 'declined', errors: [] },
});

/** Reported declines that are remembered although none of our refunds is known to be meant; more add nothing. */
const refundDeclinesReportedMax = 20;

/** Ends only the refund that the service has under just this token. */
export function recordRefundDeclined(
  state: Payment,
  { serviceRefundToken }: RecordRefundDeclined,
): PaymentEvent[] {
  const refund = state.refunds.find((each) => each.serviceRefundToken === serviceRefundToken);
  if (refund === undefined) return rememberDecline(state, serviceRefundToken);
  if (refund.state === 'accepted') return [declinedByService(refund.refundToken)];
  return refund.state === 'approved' ? openDeclinedAfterApproval(state, refund.refundToken) : [];
}

/** The answer that says whose token it is may still come. */
function rememberDecline(state: Payment, serviceRefundToken: string): PaymentEvent[] {
  const { refundDeclinesReported: known } = state;
  const isNew = !known.includes(serviceRefundToken) && known.length < refundDeclinesReportedMax;
  const isPossible = isAllowed(state, { type: 'RefundDeclineReported' });
  if (!isPossible || !isNew || serviceRefundToken.length > textLengthMax) return [];
  return [{ type: 'RefundDeclineReported', data: { serviceRefundToken } }];
}

const openDeclinedAfterApproval = (state: Payment, refundToken: string): PaymentEvent[] =>
  openReviewPer(state, 'refundToken', 'refund_disagrees', { refundToken });

/**
 * What the refunded sum shows. Without a refund of ours in flight, what is more than known was refunded elsewhere; with
 * one, the sum approves it where it has grown by just its amount. Nothing else does: time alone proves nothing.
 */
export function observeRefunds(
  state: Payment,
  { observed, inquiredAt }: RecordObservation,
  isReadable: boolean,
): PaymentEvent[] {
  const refund = undecidedRefund(state);
  const { refundedAmount } = state;
  const isPaid = isReadable && isPaidPhase(state);
  const shown = refundedAmountOf(observed);
  if (refund === undefined) return isPaid ? observeExternalRefund(shown - refundedAmount) : [];
  const { refundToken, amount } = refund;
  const { review, decisionMs } = callRules.refund;
  const isApproved = isPaid && shown - refundedAmount === amount;
  return settleCall<PaymentEvent>(refundInFlight(state, refund), {
    inquiredAt,
    effect: isApproved ? [{ type: 'RefundApproved', data: { refundToken } }] : undefined,
    patienceMs: refund.state === 'accepted' ? decisionMs : 0,
    absent: () => {
      const observedRefundedAmount = isReadable ? shown : null;
      return openReview(state, review, { refundToken, amount, refundedAmount, observedRefundedAmount });
    },
  });
}

const isPaidPhase = ({ phase }: Payment): boolean => phase === 'approved' || phase === 'refunded';

/** Money that is known to have gone back, and that the service does not show: it has taken a refund back. */
export function observeRefundedSum(
  state: Payment,
  { observed, inquiredAt }: RecordObservation,
): PaymentEvent[] {
  if (!isPaidPhase(state) || !wasApproved(observed)) return [];
  const { refundedAmount } = state;
  const observedRefundedAmount = refundedAmountOf(observed);
  if (observedRefundedAmount >= refundedAmount)
    return resolveWhere(state, isAboutSums, 'found', 'the service reported it later');
  const approved = state.refunds.filter((refund) => refund.state === 'approved');
  // The sum may follow the approval after a while. When that is over for refunds made elsewhere is not known.
  if (approved.length === 0 || approved.some(({ quietUntil }) => inquiredAt < quietUntil)) return [];
  const sums = { refundedAmount, observedRefundedAmount };
  return openReviewPer(state, 'refundToken', 'refund_disagrees', sums);
}

const isAboutSums = (open: Payment['reviews'][number]): boolean =>
  open.code === 'refund_disagrees' && isAbout(open, 'refundToken', null);

const observeExternalRefund = (amount: number): PaymentEvent[] =>
  amount > 0 ? [{ type: 'ExternalRefundObserved', data: { amount } }] : [];

/** What went back, as the service shows it: some deployments show the word alone. */
export function refundedAmountOf({ status, amount, refundedAmount }: RecordObservation['observed']): number {
  if (status === 'refunded' && refundedAmount === 0) return amount;
  return status === 'approved' || status === 'refunded' ? refundedAmount : 0;
}
