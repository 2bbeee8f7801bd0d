/** Folds the events of a payment. */
import type { ApiError } from '../money.ts';
import { InvariantViolation, unreachable } from '../invariant.ts';
import { afterDeferred, afterInquired, noDeferredCallbacks } from '../deferred-callback.ts';
import { inOrder } from '../decision.ts';
import { afterOpened, afterProposed, afterResolved, noReviews } from '../review.ts';
import { omitUndefined } from '../values.ts';
import type { PaymentEvent, PaymentEventOf } from './payment-events.ts';
import { paymentWalk, phaseOf, type BeginningType, type PaymentMachineEvent } from './payment-machine.ts';
import {
  isDecided,
  machineStateOf,
  type CaptureOrVoid,
  type Payment,
  type PaymentState,
  type Refund,
} from './payment-state.ts';

/**
 * Characters of JSON for the errors of all refunds of one payment, which are part of its view and of its records on the
 * topic. The errors of the latest refunds are kept; the stored events have them all.
 */
export const refundErrorsLengthMax = 65_536;

/**
 * The state after an event.
 *
 * @throws InvariantViolation if the machine does not allow the event: the stream or the code is broken
 */
export function evolve(state: PaymentState, event: PaymentEvent): Payment {
  if (state === undefined) return begin(event);
  if (isBeginning(event)) throw new InvariantViolation(`${event.type} occurred after the first event`);
  const changed = apply(state, event);
  const next = paymentWalk.require(machineStateOf(state), toMachineEvent(changed, event));
  return { ...changed, phase: phaseOf(next) };
}

function begin(event: PaymentEvent): Payment {
  switch (event.type) {
    case 'PaymentRequested':
      return { ...event.data, phase: 'requested', ...nothingYet };
    case 'PaymentAdopted':
      return adopt(event.data);
    default:
      throw new InvariantViolation(`${event.type} occurred before the first event`);
  }
}

const nothingYet = {
  authorizedAmount: 0,
  approvedAmount: 0,
  refundedAmount: 0,
  refunds: [],
  disputes: [],
  errors: [],
  ...noDeferredCallbacks,
  ...noReviews,
};

function adopt(data: PaymentEventOf<'PaymentAdopted'>['data']): Payment {
  const { environment, team, wallet, account, terms, serviceToken, status } = data;
  const { providerOrderNumber = serviceToken, authorizedAmount, refundedAmount } = data;
  const { processingUrl, recurringToken, sanitizedMask, declineReason } = data;
  return {
    environment,
    team,
    wallet,
    ...omitUndefined({ notPayable: data.payable === true ? undefined : (true as const) }),
    terms,
    serviceToken,
    ...nothingYet,
    authorizedAmount,
    refundedAmount,
    ...omitUndefined({ processingUrl, recurringToken, sanitizedMask, declineReason }),
    // No request of a team leads here, and none of our calls is under way.
    askedBy: '',
    fingerprint: '',
    attempt: { number: 1, account, providerOrderNumber, sendBy: 0, answerBy: 0, quietUntil: 0 },
    phase: status === 'pending' && authorizedAmount > 0 ? 'authorized' : status,
    approvedAmount: status === 'approved' || status === 'refunded' ? terms.amount : 0,
  };
}

type Beginning = PaymentEventOf<BeginningType>;
const isBeginning = (event: PaymentEvent): event is Beginning =>
  event.type === 'PaymentRequested' || event.type === 'PaymentAdopted';
type LaterEvent = Exclude<PaymentEvent, Beginning>;

/** The event as the machine sees it. `after` is the payment with the event's amounts applied. */
export function toMachineEvent(after: Payment, event: LaterEvent): PaymentMachineEvent {
  switch (event.type) {
    case 'RefundApproved':
    case 'ExternalRefundObserved':
      return {
        type: event.type,
        inFull: after.approvedAmount > 0 && after.refundedAmount >= after.approvedAmount,
      };
    case 'FinalStatusRevised':
      return { type: event.type, to: event.data.to };
    default:
      return { type: event.type };
  }
}

function apply(state: Payment, event: LaterEvent): Payment {
  switch (event.type) {
    case 'AttemptAccepted':
      return accept(state, event);
    case 'AttemptRefused':
    case 'AttemptUnresolved':
      return { ...state, errors: event.data.errors ?? [] };
    case 'AttemptStarted':
      return { ...state, attempt: event.data.attempt };
    case 'PaymentAuthorized':
      return { ...state, ...maskAndReason(event.data), authorizedAmount: event.data.authorizedAmount };
    case 'PaymentApproved':
      return {
        ...state,
        ...maskAndReason(event.data),
        authorizedAmount: 0,
        approvedAmount: event.data.amount,
      };
    case 'PaymentDeclined':
    case 'PaymentVoided':
      return { ...state, ...maskAndReason(event.data), authorizedAmount: 0 };
    case 'PaymentExpired':
      return { ...state, authorizedAmount: 0 };
    case 'CaptureSubmitted':
    case 'VoidSubmitted':
      return submitCaptureOrVoid(state, event);
    case 'CaptureRefused':
    case 'VoidRefused':
      return endCaptureOrVoid(state, { state: 'refused', refused: event.data });
    case 'CaptureUnresolved':
    case 'VoidUnresolved':
      return endCaptureOrVoid(state, { state: 'unresolved' });
    case 'RefundSubmitted':
      return submitRefund(state, event);
    case 'RefundAccepted': {
      const { refundToken, serviceRefundToken } = event.data;
      return changeRefund(state, refundToken, { state: 'accepted', serviceRefundToken });
    }
    case 'RefundApproved':
      return approveRefund(state, event);
    case 'RefundDeclined':
      return declineRefund(state, event);
    case 'RefundUnresolved':
      return keepUnconfirmed(state, event);
    case 'ExternalRefundObserved':
      return { ...state, refundedAmount: state.refundedAmount + event.data.amount };
    case 'FinalStatusRevised':
      return revise(state, event);
    case 'AdoptionDeclaredPayable':
      return declarePayable(state);
    case 'DisputeOpened':
    case 'DisputeChanged':
    case 'DisputeWon':
    case 'DisputeLost':
      return { ...state, disputes: afterDispute(state.disputes, event) };
    case 'RecurringTokenIssued':
      return { ...state, recurringToken: event.data.recurringToken };
    case 'CallbackDeferred':
      return { ...state, ...afterDeferred(state, event.data) };
    case 'CallbackInquired':
      return { ...state, ...afterInquired(state, event.data) };
    case 'ReviewOpened':
      return { ...state, ...afterOpened(state, event.data) };
    case 'ReviewResolutionProposed':
      return { ...state, ...afterProposed(state, event.data) };
    case 'ReviewResolved':
      return closeReview(state, event);
    case 'AttemptNotSent':
    case 'AttemptNotFound':
    case 'PaymentPending':
      return state;
    case 'PaymentFailed':
      return { ...state, failure: event.data.reason };
    default:
      return unreachable(event);
  }
}

function keepUnconfirmed(state: Payment, { data }: PaymentEventOf<'RefundUnresolved'>): Payment {
  const { refundToken, errors: unconfirmed } = data;
  return changeRefund(state, refundToken, { state: 'unresolved', ...omitUndefined({ unconfirmed }) });
}

const maskAndReason = (data: { sanitizedMask?: string | undefined; declineReason?: string | undefined }) =>
  omitUndefined({ sanitizedMask: data.sanitizedMask, declineReason: data.declineReason });

function accept(state: Payment, { data }: PaymentEventOf<'AttemptAccepted'>): Payment {
  const { serviceToken, processingUrl } = data;
  return { ...state, ...omitUndefined({ processingUrl }), serviceToken, errors: [] };
}

function submitCaptureOrVoid(
  state: Payment,
  { type, data }: PaymentEventOf<'CaptureSubmitted' | 'VoidSubmitted'>,
): Payment {
  const operation = type === 'CaptureSubmitted' ? 'capture' : 'void';
  const { number = 0, repeats = 0 } = state.captureOrVoid ?? {};
  const repeated = state.phase === 'authorized' ? {} : { repeats: repeats + 1 };
  const captureOrVoid = { ...data, operation, number: number + 1, ...repeated, state: 'submitted' } as const;
  return { ...state, captureOrVoid };
}

function endCaptureOrVoid(state: Payment, end: Pick<CaptureOrVoid, 'state' | 'refused'>): Payment {
  if (state.captureOrVoid === undefined)
    throw new InvariantViolation('a call without a submission was settled');
  return { ...state, captureOrVoid: { ...state.captureOrVoid, ...end } };
}

/** The provider's terms that a person accepted apply from now on. */
function closeReview(state: Payment, event: PaymentEventOf<'ReviewResolved'>): Payment {
  const { number, resolution } = event.data;
  const about = state.discrepancies.find((each) => each.number === number);
  const amount = about?.kind === 'terms_disagree' && resolution === 'accept_theirs' && about.theirs?.amount;
  return {
    ...resetRepeats(state, event),
    ...afterResolved(state, event.data),
    ...(typeof amount === 'number' && { terms: { ...state.terms, amount } }),
  };
}

/** After a review, submissions without an outcome are counted from zero. */
function resetRepeats(state: Payment, { data: { code } }: PaymentEventOf<'ReviewResolved'>): Payment {
  const isAboutCall = code === 'capture_unresolved' || code === 'void_unresolved';
  if (!isAboutCall || state.captureOrVoid === undefined) return state;
  return { ...state, captureOrVoid: { ...state.captureOrVoid, repeats: 0 } };
}

const declarePayable = ({ notPayable: _, ...payable }: Payment): Payment => payable;

function declineRefund(state: Payment, { data }: PaymentEventOf<'RefundDeclined'>): Payment {
  const { refundToken, ...declined } = data;
  return limitErrors(changeRefund(state, refundToken, { state: 'declined', declined }));
}

function submitRefund(state: Payment, { data }: PaymentEventOf<'RefundSubmitted'>): Payment {
  if (state.refunds.some(({ refundToken }) => refundToken === data.refundToken))
    throw new InvariantViolation('a refund was submitted twice');
  return { ...state, refunds: [...state.refunds, { ...data, state: 'submitted' }] };
}

function approveRefund(state: Payment, { data }: PaymentEventOf<'RefundApproved'>): Payment {
  const { refundToken, serviceRefundToken } = data;
  const changed = changeRefund(state, refundToken, {
    state: 'approved',
    ...omitUndefined({ serviceRefundToken }),
  });
  const amount = changed.refunds.find((refund) => refund.refundToken === refundToken)?.amount ?? 0;
  return { ...changed, refundedAmount: state.refundedAmount + amount };
}

function changeRefund(
  state: Payment,
  refundToken: string,
  change: Pick<Refund, 'state'> & Partial<Pick<Refund, 'serviceRefundToken' | 'unconfirmed' | 'declined'>>,
): Payment {
  const refund = state.refunds.find((candidate) => candidate.refundToken === refundToken);
  if (refund === undefined) throw new InvariantViolation('a refund without a submission was settled');
  if (isDecided(refund)) throw new InvariantViolation('a refund was settled twice');
  const { unconfirmed: _, ...known } = refund;
  const refunds = state.refunds.map((each) => (each === refund ? { ...known, ...change } : each));
  return { ...state, refunds };
}

/** Latest first, as many errors as fit. */
function limitErrors(state: Payment): Payment {
  let room = refundErrorsLengthMax;
  const hasRoom = (error: ApiError) => (room -= JSON.stringify(error).length) >= 0;
  const latestFirst = state.refunds.toReversed().map((refund) => {
    const { declined } = refund;
    return declined === undefined
      ? refund
      : { ...refund, declined: { ...declined, errors: declined.errors.filter(hasRoom) } };
  });
  return { ...state, refunds: latestFirst.reverse() };
}

function revise(state: Payment, { data }: PaymentEventOf<'FinalStatusRevised'>): Payment {
  const { to, amount, refundedAmount, declineReason, serviceToken } = data;
  const isPaid = to === 'approved' || to === 'refunded';
  const approvedAmount = isPaid ? (amount ?? state.approvedAmount) : 0;
  // The reasons of a superseded status are dropped.
  const { declineReason: _reason, failure: _failure, ...rest } = state;
  return {
    ...rest,
    ...omitUndefined({ declineReason, serviceToken }),
    authorizedAmount: 0,
    approvedAmount,
    refundedAmount: refundedAmount ?? state.refundedAmount,
  };
}

/** Applies steps in order, each to the payment after the previous one. */
export const inSteps = (
  payment: Payment,
  ...steps: ((payment: Payment) => readonly PaymentEvent[])[]
): PaymentEvent[] => inOrder<Payment, PaymentEvent>(payment, evolve, steps);

const stateAfter = {
  DisputeOpened: 'open',
  DisputeChanged: 'open',
  DisputeWon: 'won',
  DisputeLost: 'lost',
} as const;

/** A dispute keeps its place in the list. */
function afterDispute(
  disputes: Payment['disputes'],
  { type, data }: PaymentEventOf<'DisputeOpened' | 'DisputeChanged' | 'DisputeWon' | 'DisputeLost'>,
): Payment['disputes'] {
  const after = { ...data, state: stateAfter[type] };
  const isOfThis = (each: { disputeToken: string }) => each.disputeToken === data.disputeToken;
  return disputes.some(isOfThis)
    ? disputes.map((each) => (isOfThis(each) ? after : each))
    : [...disputes, after];
}
