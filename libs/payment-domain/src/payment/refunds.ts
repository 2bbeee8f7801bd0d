/** Refunds: one at a time, reserved until they are decided, recognised by the refunded sum that the service shows. */
import { events, refuse, type Decision } from '../decision.ts';
import {
  callRules,
  endCall,
  leaveUnresolved,
  refusedFor,
  settleCall,
  type CallInFlight,
} from '../outbound-call/outbound-call.ts';
import {
  isAbout,
  isAboutDoubt,
  isAboutToken,
  openLatest,
  openReview,
  openReviewPer,
  resolveWhere,
  type Evidence,
} from '../review.ts';
import { type Metadata, metadataBytes, refundsMetadataBytesMax } from '../metadata.ts';
import { mayBeOlder } from '../older-picture.ts';
import { cut, omitUndefined, textLengthMax } from '../values.ts';
import { isRefundedByWord, isUnderstood, refundedAmountOf, wasApproved } from './observation.ts';
import type {
  AcceptedRefund,
  ObservedPayment,
  PaymentRefusal,
  RecordObservation,
  RecordRefundDeclineReported,
  RecordRefundOutcome,
  SubmitRefund,
} from './payment-commands.ts';
import { isSameRequest } from '../request-fingerprint.ts';
import type { PaymentEvent, ReviewCode } from './payment-events.ts';
import { isFinalPhase } from './payment-machine.ts';
import {
  isDecided,
  refundableAmount,
  refundedElsewhere,
  reservedAmount,
  undecidedRefund,
  type Payment,
  type Refund,
} from './payment-state.ts';

/** Of one payment, whatever became of them. */
export const refundsMax = 500;

// The replay check comes first: the same refund again writes nothing, another one under the same key is refused.
export function submitRefund(state: Payment, command: SubmitRefund): Decision<PaymentEvent, PaymentRefusal> {
  const { refundToken, fingerprint, metadata, window } = command;
  const known = state.refunds.find((refund) => refund.refundToken === refundToken);
  if (known !== undefined)
    return isSameRequest(known, command) ? events() : refuse({ code: 'idempotency_key_reused' });
  const { phase } = state;
  if (!isFinalPhase(phase)) return refuse({ code: 'payment_not_refundable' });
  if (phase !== 'approved' && phase !== 'refunded') return refuse({ code: 'payment_in_final_state' });
  const isAnotherUndecided = undecidedRefund(state) !== undefined;
  // All that is left is not known while another refund is undecided.
  if (command.amount === undefined && isAnotherUndecided) return refuse({ code: 'operation_in_progress' });
  const left = refundableAmount(state);
  const { amount = left } = command;
  if (amount < 1 || amount > left) return refuse({ code: 'refund_exceeds_amount', refundableAmount: left });
  // Each is in the payment's view and in its records on the topic, which have to stay small.
  if (state.refunds.length >= refundsMax) return refuse({ code: 'too_many_refunds' });
  if (hasNoRoomFor(state, metadata)) return refuse({ code: 'too_much_metadata' });
  // One at a time: of two without an outcome nobody could say which one the service shows.
  if (isAnotherUndecided) return refuse({ code: 'operation_in_progress' });
  const sumUnknown = command.sumUnknown ?? (isInDoubt(state) ? true : undefined);
  const data = { refundToken, amount, fingerprint, ...omitUndefined({ metadata, sumUnknown }), ...window };
  return events({ type: 'RefundSubmitted', data });
}

/** What the service shows is not understood, also where somebody has acknowledged that: what has gone back already is not known. */
const isInDoubt = ({ reviews, acknowledged, serviceToken }: Payment): boolean =>
  [...reviews, ...acknowledged].some(
    (each) => (isAboutDoubt(each) && isAboutToken(serviceToken)(each)) || isAboutSums(each),
  );

const hasNoRoomFor = ({ refunds }: Payment, metadata: Metadata | undefined): boolean =>
  metadata !== undefined &&
  refunds.reduce((sum, refund) => sum + metadataBytes(refund.metadata), metadataBytes(metadata)) >
    refundsMetadataBytesMax;

/** A refund without an outcome as a call in flight. */
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
    // What was answered may have been delivered before: see `openMadeAfterAll`.
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
  // A person gave it up, and the service made it after all: money has left that our books do not have.
  if (isCalledNotMade(refund) && outcome.kind === 'accepted')
    return openAcceptedAfterAll(state, refund, outcome);
  // An inquiry was faster: what it found stands.
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
        // What is more since may be this one.
        refundedElsewhere: refundedElsewhere(state),
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
  if (status === 'approved') return [{ type: 'RefundApproved', data: { refundToken, serviceRefundToken } }];
  if (status === 'declined')
    return [{ type: 'RefundDeclined', data: { refundToken, reason: 'declined', errors: [] } }];
  return [
    { type: 'RefundAccepted', data: { refundToken, serviceRefundToken } },
    ...(status === 'pending'
      ? []
      : openReview(state, 'unknown_status', { observedStatus: status.slice(0, 100) })),
  ];
}

/** Reported declines that are remembered for one payment at most; more add nothing. */
const refundDeclinesReportedMax = 20;

/**
 * Remembers the report while it may be about the refund in flight, whose own answer may still have to name its token.
 * The report ends nothing and hurries nothing, because a callback is not believed: it is shown to the person who is asked
 * where the sum has not grown in time.
 */
export function recordRefundDeclineReported(
  state: Payment,
  { serviceRefundToken }: RecordRefundDeclineReported,
): PaymentEvent[] {
  const { refunds, refundDeclinesReported: known } = state;
  const named = refunds.find((refund) => refund.serviceRefundToken === serviceRefundToken);
  const inFlight = undecidedRefund(state);
  const isPossible = named === undefined ? inFlight?.state !== 'accepted' : named === inFlight;
  const isNew = !known.includes(serviceRefundToken) && known.length < refundDeclinesReportedMax;
  if (inFlight === undefined || !isPossible || !isNew || serviceRefundToken.length > textLengthMax) return [];
  return [{ type: 'RefundDeclineReported', data: { serviceRefundToken } }];
}

const isDeclineReported = (
  { refundDeclinesReported }: Payment,
  { serviceRefundToken }: Pick<Refund, 'serviceRefundToken'>,
): boolean => serviceRefundToken !== undefined && refundDeclinesReported.includes(serviceRefundToken);

/**
 * What the refunded sum shows. Without a refund of ours in flight, what is more than known was refunded elsewhere; with
 * one, the sum approves it where it was known before, and has grown by just its amount. Nothing else does: time alone proves
 * nothing. Where the service does not have the payment (`observed` is absent), no sum ever will. A sum that is not shown
 * is neither 0 nor everything.
 */
export function observeRefunds(
  state: Payment,
  {
    observed,
    inquiredAt,
  }: Pick<RecordObservation, 'inquiredAt'> & Partial<Pick<RecordObservation, 'observed'>>,
  isReadable: boolean,
): PaymentEvent[] {
  const refund = undecidedRefund(state);
  const { refundedAmount } = state;
  const isPaid = isReadable && isPaidPhase(state);
  if (refund === undefined)
    return isPaid && observed !== undefined ? observeWithoutRefund(state, observed) : [];
  const shown = observed && shownOf(state, refund, observed);
  const { refundToken, amount, sumUnknown, unconfirmed } = refund;
  const { review, decisionMs } = callRules.refund;
  // Of just its amount it is this one, most likely, unless there was a sum before it that nobody knew, or was seen as less of it.
  const growth = isPaid && shown !== undefined ? shown - refundedAmount : 0;
  const isPart = isPartOfRefund(state, refund, Math.max(shown ?? 0, observed?.refundedAmount ?? 0));
  const provesNothing = sumUnknown === true || isPart || wasSeenInPart(state, refund);
  const isOfThis = growth === amount && !provesNothing;
  const declineReported = isDeclineReported(state, refund);
  const settled = settleCall<PaymentEvent>(refundInFlight(state, refund), {
    inquiredAt,
    effect: isPaid && isOfThis ? [{ type: 'RefundApproved', data: { refundToken } }] : undefined,
    patienceMs: refund.state === 'accepted' ? decisionMs : 0,
    absent: () => {
      if (unconfirmed !== undefined && observed !== undefined && showsNoFurtherRefund(state, observed))
        return refundInFlight(state, refund).refused(refusedFor(unconfirmed));
      const more = {
        ...(unconfirmed && { refusedAs: unconfirmed[0]?.code ?? null }),
        ...(provesNothing && { sumUnknown: true }),
        ...(declineReported && { declineReported }),
        ...(isReadable && observed && isRefundedByWord(observed) && { observedStatus: observed.status }),
      };
      const observedRefundedAmount = (isReadable ? shown : undefined) ?? null;
      return openLatest<ReviewCode>(state, review, {
        ...refundInDoubt(state, refund),
        observedRefundedAmount,
        ...more,
      });
    },
  });
  return isPaid && !isOfThis ? [...settled, ...openMadeAfterAll(state, refundedAmount + growth)] : settled;
}

/** The refunded sum, or what the word `refunded` proves without one: a refund of the whole amount, before which nothing had gone back. */
function shownOf(
  { refundedAmount, approvedAmount }: Payment,
  { amount }: Refund,
  observed: ObservedPayment,
): number | undefined {
  const isWhole = refundedAmount === 0 && amount === approvedAmount;
  return refundedAmountOf(observed) ?? (isRefundedByWord(observed) && isWhole ? amount : undefined);
}

/** No refund of ours is under way. The word `refunded` is explained by those before it; otherwise a person finds out how much it was. */
function observeWithoutRefund(state: Payment, observed: ObservedPayment): PaymentEvent[] {
  const shown = refundedAmountOf(observed);
  if (shown !== undefined) return observeGrowth(state, shown);
  const { refundedAmount } = state;
  if (refundedAmount > 0 || !isRefundedByWord(observed)) return [];
  return openReviewPer(state, 'refundToken', 'refund_disagrees', {
    refundedAmount,
    observedStatus: observed.status,
    observedRefundedAmount: null,
  });
}

/** Less of it has gone back than it is of: that is another one, and the sum proves nothing from then on. */
const isPartOfRefund = ({ refundedAmount }: Payment, { amount }: Refund, shown: number): boolean =>
  shown > refundedAmount && shown - refundedAmount < amount;

const wasSeenInPart = (state: Payment, refund: Refund): boolean =>
  state.reviews.some(
    ({ code, evidence }) =>
      code === callRules.refund.review &&
      (evidence['sumUnknown'] === true || isPartOfRefund(state, refund, refundedIn(evidence))),
  );

const refundInDoubt = (
  { refundedAmount }: Pick<Payment, 'refundedAmount'>,
  { refundToken, amount }: Refund,
) => ({ refundToken, amount, refundedAmount });

/** More has gone back than our books have, while no refund of ours is under way. */
export const observeGrowth = (state: Payment, shown: number): PaymentEvent[] => [
  ...observeExternalRefund(shown - state.refundedAmount),
  ...openMadeAfterAll(state, shown),
];

/**
 * More has gone back than our books have. Of a refund that a person called not made, or of just the amount of one that the service has
 * declined, the latest of these, it may be that one: then its team must not make it again.
 */
function openMadeAfterAll(state: Payment, shown: number): PaymentEvent[] {
  const growth = shown - state.refundedAmount;
  const isOfInFlight = undecidedRefund(state)?.amount === growth;
  const declined = state.refunds.findLast((refund) => isDeclined(refund) && refund.amount === growth);
  return state.refunds
    .filter(
      (refund) =>
        (isCalledNotMade(refund) && refund.amount <= growth) || (refund === declined && !isOfInFlight),
    )
    .filter(({ refundToken }) => !isKnownAsMade(state, refundToken))
    .flatMap((refund) => openMade(state, refund, shown));
}

const openMade = (state: Payment, refund: Refund, observedRefundedAmount: number): PaymentEvent[] =>
  openReviewPer<ReviewCode>(state, 'refundToken', 'refund_disagrees', {
    ...refundInDoubt(state, refund),
    observedRefundedAmount,
  });

const isCalledNotMade = ({ declined }: Refund): boolean => declined?.reason === 'resolved';
const isDeclined = ({ declined }: Refund): boolean =>
  declined?.reason === 'declined' || declined?.reason === 'refused';

const isKnownAsMade = ({ reviews, acknowledged }: Payment, refundToken: string): boolean =>
  [...reviews, ...acknowledged].some((each) => isAboutMade(each, refundToken));

const isAboutMade = (each: Payment['reviews'][number], refundToken: string): boolean =>
  each.code === 'refund_disagrees' && isAbout(each, 'refundToken', refundToken);

/** The service said that money went back, and not how much: it may be everything. */
export const showsUnknownSum = ({ observedStatus, observedRefundedAmount }: Evidence): boolean =>
  observedStatus === 'refunded' && observedRefundedAmount === null;

/** What the service showed as given back, at least. */
export const refundedIn = (evidence: Evidence): number => Number(evidence['observedRefundedAmount'] ?? 0);

/** More has gone back by what the service showed, which nobody has taken over: as much as this refund. */
function showsRoomFor(
  { code, evidence }: Payment['reviews'][number],
  { amount, refundedAmount }: { amount: number; refundedAmount: number },
): boolean {
  if (showsUnknownSum(evidence)) return true;
  if (code !== 'terms_disagree' && code !== 'unknown_status' && code !== 'refund_unresolved') return false;
  return refundedIn(evidence) - refundedAmount >= amount;
}

/** It has ended as not made, and it is in review whether it was: who is told that it was not sends another one. */
export const mayBeMade = (
  { reviews, refundedAmount }: Pick<Payment, 'reviews' | 'refundedAmount'>,
  refund: Refund,
): boolean =>
  reviews.some(
    (each) =>
      (isCalledNotMade(refund) &&
        (isAboutMade(each, refund.refundToken) || showsRoomFor(each, { ...refund, refundedAmount }))) ||
      // It is asked about the latest of its amount.
      (isDeclined(refund) && each.code === 'refund_disagrees' && isAbout(each, 'amount', refund.amount)),
  );

/** The same, and a person has looked at it since: whether it was made only that one knows. */
export const mayHaveBeenMade = (
  { acknowledged, refundedAmount }: Pick<Payment, 'acknowledged' | 'refundedAmount'>,
  refund: Refund,
): boolean => mayBeMade({ reviews: acknowledged, refundedAmount }, refund);

export const isPaidPhase = ({ phase }: Payment): boolean => phase === 'approved' || phase === 'refunded';

/** Money that is known to have gone back, and that the service does not show: it has taken a refund back. */
export function observeRefundedSum(state: Payment, observation: RecordObservation): PaymentEvent[] {
  const { observed, inquiredAt } = observation;
  if (!isPaidPhase(state) || !wasApproved(observed)) return [];
  const { refundedAmount } = state;
  const isThere = showsOurSum(state, observed);
  if (isThere === undefined) return [];
  if (isThere)
    return resolveWhere(
      { reviews: [...state.reviews, ...state.acknowledged] },
      isAboutSums,
      'found',
      'the service reported it later',
    );
  const approved = state.refunds.filter((refund) => refund.state === 'approved');
  // The sum may follow the approval after a while, and be shown as it was before a refund that was made elsewhere.
  const mayFollow =
    approved.length === 0
      ? mayBeOlder(observation)
      : approved.some(({ quietUntil }) => inquiredAt < quietUntil);
  if (mayFollow) return [];
  const sums = { refundedAmount, observedRefundedAmount: refundedAmountOf(observed) ?? null };
  return openReviewPer(state, 'refundToken', 'refund_disagrees', sums);
}

/** Whether all that our books have is shown as given back; undefined where neither a sum nor the word says so. */
function showsOurSum({ refundedAmount, approvedAmount }: Payment, observed: ObservedPayment) {
  const shown = refundedAmountOf(observed);
  if (shown !== undefined) return shown >= refundedAmount;
  return refundedAmount < approvedAmount ? undefined : observed.status === 'refunded';
}

const isAboutSums = (open: Payment['reviews'][number]): boolean =>
  open.code === 'refund_disagrees' && isAbout(open, 'refundToken', null);

const observeExternalRefund = (amount: number): PaymentEvent[] =>
  amount > 0 ? [{ type: 'ExternalRefundObserved', data: { amount } }] : [];

/**
 * True where the service shows just what our books have: none of the refund in flight has gone back. Without a sum only the
 * word `approved` shows that, of a refund of all that is left.
 */
export function showsNoFurtherRefund(state: Payment, observed: ObservedPayment): boolean {
  if (!isUnderstood(state, observed) || !wasApproved(observed)) return false;
  const { refundedAmount, approvedAmount } = state;
  const isOfAll = refundedAmount + reservedAmount(state) === approvedAmount;
  const shown =
    refundedAmountOf(observed) ?? (isOfAll && observed.status === 'approved' ? refundedAmount : undefined);
  return shown === refundedAmount;
}
