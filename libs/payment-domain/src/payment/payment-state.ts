/** What a payment is, folded from its events. */
import type { ApiError } from '@tollgate/payment-api/values';
import { afterOpened, afterResolved, noReviews, type Reviewable } from '../review.ts';
import type { CallWindow } from '../call-window.ts';
import { InvariantViolation, unreachable } from '../invariant.ts';
import type {
  Attempt,
  ReviewCode,
  Environment,
  PaymentEvent,
  PaymentEventOf,
  PaymentTerms,
} from './payment-events.ts';
import { requirePhaseAfter, type PaymentMachineEvent, type PaymentPhase } from './payment-machine.ts';

export interface Refund extends CallWindow {
  refundToken: string;
  amount: number;
  fingerprint: string;
  /** Until it is approved or declined, a refund keeps its amount reserved. `accepted`: the service has not decided. */
  state: 'submitted' | 'unresolved' | 'accepted' | 'approved' | 'declined';
  /** The service's token of the refund, where its answer told one. */
  serviceRefundToken?: string;
  /** Why nothing came of it. */
  declined?: { reason: EndReason; errors: readonly ApiError[] };
}

/** Why nothing came of a call. */
export type EndReason = 'refused' | 'not-sent' | 'declined' | 'resolved';

/** The latest confirmation or decline of a two-step payment. */
export interface CaptureOrVoid extends CallWindow {
  operation: 'confirm' | 'decline';
  /** Which submission of this payment it is, from 1: no two have the same, so that a late outcome is told to be another's. */
  number: number;
  /** How often it was submitted again; absent for the submission that was asked for, counted anew once a person has looked. */
  repeats?: number;
  state: 'submitted' | 'unresolved' | 'refused';
  refused?: { reason: EndReason; errors: readonly ApiError[] };
}

export interface Payment extends Reviewable<ReviewCode> {
  environment: Environment;
  team: string;
  terms: PaymentTerms;
  fingerprint: string;
  phase: PaymentPhase;
  /** The latest attempt. */
  attempt: Attempt;
  /** The service's token of the accepted attempt. */
  serviceToken?: string;
  processingUrl?: string;
  heldAmount: number;
  /** Amount that the service approved; 0 while nothing is. */
  approvedAmount: number;
  /** Confirmed refunds, ours and those made in the service's own console. */
  refundedAmount: number;
  refunds: readonly Refund[];
  /** The service's tokens of declined refunds that none of ours was known to be when it was told. */
  refundDeclinesReported: readonly string[];
  captureOrVoid?: CaptureOrVoid;
  /** Our alias of the recurring token that the service gave for this payment. */
  recurringToken?: string;
  sanitizedMask?: string;
  declineReason?: string;
  /** Why nothing was charged, where the payment has failed. */
  failure?: PaymentEventOf<'PaymentFailed'>['data']['reason'];
  /** Errors of the latest refused attempt. */
  errors: readonly ApiError[];
}

/** A payment that has not been requested yet. */
export const noPayment = undefined;
export type PaymentState = Payment | typeof noPayment;

export const isDecided = ({ state }: Refund): boolean => state === 'approved' || state === 'declined';

/** The refund whose outcome is not known: there is one at a time at most, so that what the service shows can be told to be its. */
export const undecidedRefund = ({ refunds }: Payment): Refund | undefined =>
  refunds.find((refund) => !isDecided(refund));

/** Sum of refunds that are submitted and not decided. */
export const reservedAmount = ({ refunds }: Payment): number =>
  refunds.filter((refund) => !isDecided(refund)).reduce((sum, refund) => sum + refund.amount, 0);

/** What may still be refunded, minor units: of an approved payment only, whatever the sums of another one may leave. */
export const refundableAmount = (payment: Payment): number =>
  payment.phase === 'approved'
    ? Math.max(0, payment.approvedAmount - payment.refundedAmount - reservedAmount(payment))
    : 0;

/**
 * The state after an event.
 *
 * @throws InvariantViolation where the machine does not allow the event: the stream is damaged, or the code is.
 */
export function evolve(state: PaymentState, event: PaymentEvent): Payment {
  if (state === undefined) return begin(event);
  if (event.type === 'PaymentRequested') throw new InvariantViolation('PaymentRequested came a second time');
  const changed = apply(state, event);
  return { ...changed, phase: requirePhaseAfter(state.phase, toMachineEvent(changed, event)) };
}

function begin(event: PaymentEvent): Payment {
  if (event.type !== 'PaymentRequested')
    throw new InvariantViolation(`${event.type} came before PaymentRequested`);
  return {
    ...event.data,
    phase: 'requested',
    heldAmount: 0,
    approvedAmount: 0,
    refundedAmount: 0,
    refunds: [],
    refundDeclinesReported: [],
    errors: [],
    ...noReviews,
  };
}

/** The event as the machine sees it. `after` is the payment with the event's amounts applied. */
export function toMachineEvent(
  after: Payment,
  event: Exclude<PaymentEvent, { type: 'PaymentRequested' }>,
): PaymentMachineEvent {
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

function apply(state: Payment, event: Exclude<PaymentEvent, { type: 'PaymentRequested' }>): Payment {
  switch (event.type) {
    case 'AttemptAccepted':
      return accept(state, event);
    case 'AttemptRefused':
      return { ...state, errors: event.data.errors };
    case 'AttemptStarted':
      return { ...state, attempt: event.data.attempt };
    case 'PaymentAuthorized':
      return { ...state, ...mask(event.data), heldAmount: event.data.heldAmount };
    case 'PaymentApproved':
      return { ...state, ...mask(event.data), heldAmount: 0, approvedAmount: event.data.amount };
    case 'PaymentDeclined':
      return { ...state, ...mask(event.data), ...reason(event.data), heldAmount: 0 };
    case 'PaymentExpired':
      return { ...state, heldAmount: 0 };
    case 'CaptureSubmitted':
    case 'VoidSubmitted':
      return submitCaptureOrVoid(state, event);
    case 'CaptureRefused':
    case 'VoidRefused':
      return endCaptureOrVoid(state, { state: 'refused', refused: endOf(event.data) });
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
      return changeRefund(state, event.data.refundToken, { state: 'declined', declined: endOf(event.data) });
    case 'RefundUnresolved':
      return changeRefund(state, event.data.refundToken, { state: 'unresolved' });
    case 'RefundDeclineReported':
      return {
        ...state,
        refundDeclinesReported: [...state.refundDeclinesReported, event.data.serviceRefundToken],
      };
    case 'ExternalRefundObserved':
      return { ...state, refundedAmount: state.refundedAmount + event.data.amount };
    case 'FinalStatusRevised':
      return revise(state, event);
    case 'RecurringTokenIssued':
      return { ...state, recurringToken: event.data.recurringToken };
    case 'ReviewOpened':
      return { ...state, ...afterOpened(state, event.data) };
    case 'ReviewResolved':
      return { ...startAnew(state, event), ...afterResolved(state, event.data) };
    case 'AttemptNotSent':
    case 'AttemptUnresolved':
    case 'AttemptNotFound':
    case 'PaymentPending':
      return state;
    case 'PaymentFailed':
      return { ...state, failure: event.data.reason };
    default:
      return unreachable(event);
  }
}

const mask = (data: { sanitizedMask?: string | undefined }) =>
  data.sanitizedMask === undefined ? {} : { sanitizedMask: data.sanitizedMask };

const reason = (data: { declineReason?: string | undefined }) =>
  data.declineReason === undefined ? {} : { declineReason: data.declineReason };

function accept(state: Payment, { data }: PaymentEventOf<'AttemptAccepted'>): Payment {
  const page = data.processingUrl === undefined ? {} : { processingUrl: data.processingUrl };
  return { ...state, ...page, serviceToken: data.serviceToken, errors: [] };
}

const endOf = (data: { reason?: EndReason | undefined; errors: readonly ApiError[] }) => ({
  reason: data.reason ?? 'refused',
  errors: data.errors,
});

function submitCaptureOrVoid(
  state: Payment,
  { type, data }: PaymentEventOf<'CaptureSubmitted' | 'VoidSubmitted'>,
): Payment {
  const operation = type === 'CaptureSubmitted' ? 'confirm' : 'decline';
  const { number = 0, repeats = 0 } = state.captureOrVoid ?? {};
  const repeated = state.phase === 'authorized' ? {} : { repeats: repeats + 1 };
  return {
    ...state,
    captureOrVoid: { ...data, operation, number: number + 1, ...repeated, state: 'submitted' },
  };
}

function endCaptureOrVoid(state: Payment, end: Pick<CaptureOrVoid, 'state' | 'refused'>): Payment {
  if (state.captureOrVoid === undefined)
    throw new InvariantViolation('a call ended that was never submitted');
  return { ...state, captureOrVoid: { ...state.captureOrVoid, ...end } };
}

/** A person has looked at submissions without an outcome: they are counted from here again. */
function startAnew(state: Payment, { data }: PaymentEventOf<'ReviewResolved'>): Payment {
  if (data.code !== 'capture_unresolved' || state.captureOrVoid === undefined) return state;
  return { ...state, captureOrVoid: { ...state.captureOrVoid, repeats: 0 } };
}

function submitRefund(state: Payment, { data }: PaymentEventOf<'RefundSubmitted'>): Payment {
  if (state.refunds.some(({ refundToken }) => refundToken === data.refundToken))
    throw new InvariantViolation('a refund was submitted twice');
  return { ...state, refunds: [...state.refunds, { ...data, state: 'submitted' }] };
}

function approveRefund(state: Payment, { data }: PaymentEventOf<'RefundApproved'>): Payment {
  const { refundToken, serviceRefundToken } = data;
  const token = serviceRefundToken === undefined ? {} : { serviceRefundToken };
  const changed = changeRefund(state, refundToken, { state: 'approved', ...token });
  const amount = changed.refunds.find((refund) => refund.refundToken === refundToken)?.amount ?? 0;
  return { ...changed, refundedAmount: state.refundedAmount + amount };
}

function changeRefund(
  state: Payment,
  refundToken: string,
  change: Pick<Refund, 'state'> & Partial<Pick<Refund, 'serviceRefundToken' | 'declined'>>,
): Payment {
  const refund = state.refunds.find((candidate) => candidate.refundToken === refundToken);
  if (refund === undefined) throw new InvariantViolation('a refund was settled that was never submitted');
  if (isDecided(refund)) throw new InvariantViolation('a refund was settled twice');
  return {
    ...state,
    refunds: state.refunds.map((each) => (each === refund ? { ...each, ...change } : each)),
  };
}

function revise(state: Payment, { data }: PaymentEventOf<'FinalStatusRevised'>): Payment {
  const stands = data.to === 'approved' || data.to === 'refunded';
  const approvedAmount = stands ? (data.amount ?? state.approvedAmount) : 0;
  const token = data.serviceToken === undefined ? {} : { serviceToken: data.serviceToken };
  // The reason of the status that no longer holds goes with it.
  const { declineReason: _reason, failure: _failure, ...rest } = state;
  return { ...rest, ...reason(data), ...token, heldAmount: 0, approvedAmount };
}
