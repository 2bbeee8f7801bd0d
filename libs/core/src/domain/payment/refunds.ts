/** Refunds: one at a time, reserved until decided, and recognized by the provider's refunded sum. */
import { events, refuse, type Decision } from '../decision.ts';
import {
  findDiscrepancy,
  isPaid,
  isRefundedByWord,
  observeDiscrepancy,
  type RecordedDiscrepancy,
} from '../discrepancy.ts';
import { type Metadata, metadataBytes, refundsMetadataBytesMax } from '../metadata.ts';
import {
  callRules,
  endCall,
  leaveUnresolved,
  refusedFor,
  settleCall,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import { isSameRequest } from '../request-fingerprint.ts';
import { openReview, type Evidence } from '../review.ts';
import { omitUndefined } from '../values.ts';
import { isUnderstood, refundedAmountOf, reservedByDiscrepancies, ourSide } from './observation.ts';
import type {
  AcceptedRefund,
  ObservedPayment,
  PaymentRefusal,
  RecordObservation,
  RecordRefundOutcome,
  SubmitRefund,
} from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import { isFinalPhase } from './payment-machine.ts';
import {
  isDecided,
  isPaidPhase,
  refundableAmount,
  refundableIfWon,
  refundedElsewhere,
  reservedAmount,
  undecidedRefund,
  type Payment,
  type Refund,
} from './payment-state.ts';

/** Maximum per payment, in any state. */
export const refundsMax = 500;

// The replay check comes first: the same refund writes nothing, another one under the same key is refused.
export function submitRefund(state: Payment, command: SubmitRefund): Decision<PaymentEvent, PaymentRefusal> {
  const { refundToken, askedBy, askedAt, fingerprint, metadata, window } = command;
  const known = state.refunds.find((refund) => refund.refundToken === refundToken);
  if (known !== undefined)
    return isSameRequest(known, command) ? events() : refuse({ code: 'idempotency_key_reused' });
  const { phase } = state;
  if (!isFinalPhase(phase)) return refuse({ code: 'payment_not_refundable' });
  if (phase !== 'approved' && phase !== 'refunded') return refuse({ code: 'payment_in_final_state' });
  const isAnotherUndecided = undecidedRefund(state) !== undefined;
  // The rest is not known while another refund is undecided.
  if (command.amount === undefined && isAnotherUndecided) return refuse({ code: 'operation_in_progress' });
  const reserved = reservedByDiscrepancies(state);
  const left = Math.max(0, refundableAmount(state) - reserved);
  const { amount = left } = command;
  if (amount < 1 || amount > left) {
    const { amount: asked = 1 } = command;
    const isDisputed = asked >= 1 && asked <= refundableIfWon(state) - reserved;
    return refuse({
      code: isDisputed ? 'payment_disputed' : 'refund_exceeds_amount',
      refundableAmount: left,
      currency: state.terms.currency,
    });
  }
  // Each is part of the payment's view and of its records on the topic, which must stay small.
  if (state.refunds.length >= refundsMax) return refuse({ code: 'too_many_refunds' });
  if (hasNoRoomFor(state, metadata)) return refuse({ code: 'too_much_metadata' });
  // One at a time: with two in flight, an effect at the provider could not be attributed.
  if (isAnotherUndecided) return refuse({ code: 'operation_in_progress' });
  const sumUnknown = command.sumUnknown ?? (isInDoubt(state) ? true : undefined);
  const optional = omitUndefined({ metadata, sumUnknown });
  const data = { refundToken, amount, askedBy, askedAt, fingerprint, ...optional, ...window };
  return events({ type: 'RefundSubmitted', data });
}

/** The amount refunded so far is not known for certain. */
const isInDoubt = ({ discrepancies, serviceToken }: Payment): boolean =>
  discrepancies.some((each) => each.serviceToken === serviceToken && each.refundToken === undefined);

const hasNoRoomFor = ({ refunds }: Payment, metadata: Metadata | undefined): boolean =>
  refunds.reduce((sum, refund) => sum + metadataBytes(refund.metadata), metadataBytes(metadata)) >
  refundsMetadataBytesMax;

/** A refund without an outcome, as a call in flight. */
const refundInFlight = (state: Payment, refund: Refund): CallInFlight<PaymentEvent, AcceptedRefund> => {
  const { refundToken } = refund;
  return {
    ...refund,
    isUnresolved: refund.state !== 'submitted',
    unresolved: (reason, errors) => ({
      type: 'RefundUnresolved',
      data: { refundToken, reason, ...omitUndefined({ errors }) },
    }),
    accepted: (answer) => recordAccepted(state, refund, answer),
    refused: ({ errors }) => [{ type: 'RefundDeclined', data: { refundToken, reason: 'refused', errors } }],
    // The call may have been delivered twice: see `observeMadeAfterAll`.
    notSent: (_, isAnswered) => [
      {
        type: 'RefundDeclined',
        data: { refundToken, reason: isAnswered ? 'refused' : 'not-sent', errors: [] },
      },
    ],
  };
};

export function recordRefundOutcome(
  state: Payment,
  { refundToken, outcome }: RecordRefundOutcome,
): PaymentEvent[] {
  const refund = state.refunds.find((each) => each.refundToken === refundToken);
  if (refund === undefined) return [];
  // A person answered "not made", and the provider made it: money has left that our books still have.
  if (isCalledNotMade(refund) && outcome.kind === 'accepted')
    return observeAcceptedAfterAll(state, refund, outcome);
  // An inquiry was faster: its result holds.
  if (isDecided(refund) || refund.state === 'accepted') return [];
  return endCall(refundInFlight(state, refund), outcome);
}

/** The larger of two sums: refunds made elsewhere, and other such refunds; plus this one. */
function observeAcceptedAfterAll(
  state: Payment,
  { refundToken, amount }: Refund,
  { status }: AcceptedRefund,
): PaymentEvent[] {
  if (status === 'declined' || findDiscrepancy(state, refundToken) !== undefined) return [];
  const known = state.discrepancies
    .filter((each) => each.refundToken !== undefined)
    .map(({ theirs }) => theirs?.refundedAmount ?? 0);
  return observeMade(state, refundToken, Math.max(refundedElsewhere(state), ...known) + amount);
}

/**
 * The discrepancy of one refund: it failed here, and by the provider's record its amount has been refunded, or may have been.
 */
function observeMade(state: Payment, refundToken: string, refundedAmount: number): PaymentEvent[] {
  const ours = { ...ourSide(state), refundedAmount: refundedElsewhere(state) };
  return observeDiscrepancy(state, {
    kind: 'refund_disagrees',
    operation: 'payment',
    serviceToken: state.serviceToken ?? '',
    refundToken,
    ours,
    theirs: { ...ours, refundedAmount },
  });
}

function recordAccepted(state: Payment, refund: Refund, accepted: AcceptedRefund): PaymentEvent[] {
  const { refundToken, amount } = refund;
  const { serviceRefundToken, status } = accepted;
  const inFlight = refundInFlight(state, refund);
  if (accepted.amount !== amount || accepted.currency !== state.terms.currency)
    return leaveUnresolved(inFlight, `the answer is about ${accepted.amount} ${accepted.currency}`);
  if (status === 'approved') return [{ type: 'RefundApproved', data: { refundToken, serviceRefundToken } }];
  if (status === 'declined')
    return [{ type: 'RefundDeclined', data: { refundToken, reason: 'declined', errors: [] } }];
  return status === 'pending'
    ? [{ type: 'RefundAccepted', data: { refundToken, serviceRefundToken } }]
    : leaveUnresolved(inFlight, `the provider reports ${status}`);
}

/**
 * Interprets the refunded sum. Without our refund in flight, the difference was refunded elsewhere. With one, the sum
 * approves it only if the previous sum was known and has grown by exactly its amount; time alone proves nothing. If the
 * provider does not have the payment (`observed` is absent), the refund can never be confirmed. A missing sum means neither
 * 0 nor everything.
 */
export function observeRefunds(
  state: Payment,
  {
    observed,
    inquiredAt,
  }: Pick<RecordObservation, 'inquiredAt'> & Partial<Pick<RecordObservation, 'observed'>>,
): PaymentEvent[] {
  const refund = undecidedRefund(state);
  const readable = observed !== undefined && isUnderstood(state, observed) ? observed : undefined;
  const isReadablyPaid = readable !== undefined && isPaidPhase(state);
  if (refund === undefined)
    return isReadablyPaid ? observeGrowth(state, refundedAmountOf(readable) ?? 0) : [];
  const { refundToken, amount, unconfirmed } = refund;
  const shown = readable && reportedRefundedSum(state, refund, readable);
  const growth = (shown ?? state.refundedAmount) - state.refundedAmount;
  const proof = provesNothing(state, refund, Math.max(shown ?? 0, observed?.refundedAmount ?? 0));
  const isOfThis = growth === amount && !proof;
  const settled = settleCall<PaymentEvent>(refundInFlight(state, refund), {
    inquiredAt,
    effect: isReadablyPaid && isOfThis ? [{ type: 'RefundApproved', data: { refundToken } }] : undefined,
    patienceMs: refund.state === 'accepted' ? callRules.refund.decisionMs : 0,
    absent: () =>
      unconfirmed !== undefined && observed !== undefined && showsNoFurtherRefund(state, observed)
        ? refundInFlight(state, refund).refused(refusedFor(unconfirmed))
        : openReview(state, callRules.refund.review, {
            refundToken,
            amount,
            refundedAmount: state.refundedAmount,
            observedRefundedAmount: shown ?? null,
            ...(unconfirmed && { refusedAs: unconfirmed[0]?.code ?? null }),
            ...(proof && { sumUnknown: true }),
            ...(readable && isRefundedByWord(readable) && { observedStatus: readable.status }),
          }),
  });
  return isReadablyPaid && !isOfThis
    ? [...settled, ...observeMadeAfterAll(state, state.refundedAmount + growth)]
    : settled;
}

/** The refunded sum, or the sum that a bare `refunded` proves: a refund of the whole amount after no other. */
function reportedRefundedSum(
  { refundedAmount, approvedAmount }: Payment,
  { amount }: Refund,
  observed: ObservedPayment,
): number | undefined {
  const isWhole = refundedAmount === 0 && amount === approvedAmount;
  return refundedAmountOf(observed) ?? (isRefundedByWord(observed) && isWhole ? amount : undefined);
}

/** The previous sum was not known, or has grown by less than this amount: another refund, made elsewhere. */
function provesNothing({ reviews, refundedAmount }: Payment, refund: Refund, shown: number): boolean {
  const isPart = (sum: number) => sum > refundedAmount && sum - refundedAmount < refund.amount;
  const wasSeenInPart = reviews.some(
    ({ code, evidence }) =>
      code === callRules.refund.review && (evidence['sumUnknown'] === true || isPart(refundedIn(evidence))),
  );
  return refund.sumUnknown === true || wasSeenInPart || isPart(shown);
}

/** The provider has refunded more than our books, and none of our refunds is under way. */
export const observeGrowth = (state: Payment, shown: number): PaymentEvent[] => {
  const amount = shown - state.refundedAmount;
  if (amount <= 0) return [];
  const external: PaymentEvent = { type: 'ExternalRefundObserved', data: { amount } };
  return [external, ...observeMadeAfterAll(state, shown)];
};

/**
 * The provider has refunded more than our books. The difference may be a refund that a person answered as not made, or the
 * latest declined refund of exactly this amount; its team must not repeat it.
 */
function observeMadeAfterAll(state: Payment, shown: number): PaymentEvent[] {
  const growth = shown - state.refundedAmount;
  const isOfInFlight = undecidedRefund(state)?.amount === growth;
  const declined = state.refunds.findLast((refund) => isDeclined(refund) && refund.amount === growth);
  return state.refunds
    .filter(
      (refund) =>
        (isCalledNotMade(refund) && refund.amount <= growth) || (refund === declined && !isOfInFlight),
    )
    .filter(({ refundToken }) => findDiscrepancy(state, refundToken) === undefined)
    .flatMap(({ refundToken }) => observeMade(state, refundToken, refundedElsewhere(state) + growth));
}

const isCalledNotMade = ({ declined }: Refund): boolean => declined?.reason === 'resolved';
const isDeclined = ({ declined }: Refund): boolean =>
  declined?.reason === 'declined' || declined?.reason === 'refused';

/** Lower bound of the provider's refunded sum. */
export const refundedIn = (evidence: Evidence): number => Number(evidence['observedRefundedAmount'] ?? 0);

/** Discrepancies by which a failed refund may have taken effect: a team that repeats it may refund twice. */
export function doubtsAbout(payment: Payment, refund: Refund): RecordedDiscrepancy[] {
  const { discrepancies, refunds, serviceToken, refundedAmount } = payment;
  const amountOfRefund = (token: string) => refunds.find(({ refundToken }) => refundToken === token)?.amount;
  return discrepancies.filter(({ refundToken, serviceToken: shown, theirs }) => {
    if (refundToken === refund.refundToken) return true;
    if (refundToken !== undefined) return isDeclined(refund) && amountOfRefund(refundToken) === refund.amount;
    const hasRoom =
      theirs !== null &&
      (isRefundedByWord(theirs) || (theirs.refundedAmount ?? 0) - refundedAmount >= refund.amount);
    return isCalledNotMade(refund) && shown === serviceToken && hasRoom;
  });
}

/** The refund failed here, and is in review in case it took effect. */
export const mayBeMade = (payment: Payment, refund: Refund): boolean =>
  doubtsAbout(payment, refund).some(({ state }) => state === 'open');

/** The same, and a person keeps our record: only that person knows the outcome. */
export const mayHaveBeenMade = (payment: Payment, refund: Refund): boolean =>
  doubtsAbout(payment, refund).some(({ state }) => state !== 'open');

/**
 * True if the provider's sum equals ours: the refund in flight has no effect so far. Without a sum, only `approved` after a
 * refund of the whole rest shows that.
 */
export function showsNoFurtherRefund(state: Payment, observed: ObservedPayment): boolean {
  if (!isUnderstood(state, observed) || !isPaid(observed)) return false;
  const { refundedAmount, approvedAmount } = state;
  const isOfAll = refundedAmount + reservedAmount(state) === approvedAmount;
  const shown =
    refundedAmountOf(observed) ?? (isOfAll && observed.status === 'approved' ? refundedAmount : undefined);
  return shown === refundedAmount;
}
