/** What a payment is, folded from its events. */
import type { ApiError } from '@tollgate/payment-api/values';
import { InvariantViolation, unreachable } from './invariant.ts';
import type {
  Attempt,
  AttentionCode,
  Environment,
  PaymentEvent,
  PaymentEventOf,
  PaymentTerms,
} from './payment-events.ts';
import { requirePhaseAfter, type PaymentMachineEvent, type PaymentPhase } from './payment-machine.ts';

export interface Refund {
  refundToken: string;
  amount: number;
  fingerprint: string;
  /** `submitted` and `unresolved` refunds keep their amount reserved. */
  state: 'submitted' | 'unresolved' | 'approved' | 'declined';
}

export interface Attention {
  code: AttentionCode;
  evidence: Readonly<Record<string, string | number | boolean | null>>;
}

export interface Payment {
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
  sanitizedMask?: string;
  declineReason?: string;
  /** Errors of the latest refused attempt. */
  errors: readonly ApiError[];
  /** What waits for a person. */
  attention: readonly Attention[];
}

/** A payment that has not been requested yet. */
export const noPayment = undefined;
export type PaymentState = Payment | typeof noPayment;

/** Sum of refunds that are submitted and not decided. */
export const reservedAmount = (payment: Payment): number =>
  payment.refunds
    .filter((refund) => refund.state === 'submitted' || refund.state === 'unresolved')
    .reduce((sum, refund) => sum + refund.amount, 0);

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
    errors: [],
    attention: [],
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
    case 'PaymentHeld':
      return { ...state, ...mask(event.data), heldAmount: event.data.heldAmount };
    case 'PaymentApproved':
      return { ...state, ...mask(event.data), heldAmount: 0, approvedAmount: event.data.amount };
    case 'PaymentDeclined':
      return { ...state, ...mask(event.data), ...reason(event.data), heldAmount: 0 };
    case 'PaymentExpired':
      return { ...state, heldAmount: 0 };
    case 'RefundSubmitted':
      return submitRefund(state, event);
    case 'RefundApproved':
      return settleRefund(state, event.data.refundToken, 'approved');
    case 'RefundDeclined':
      return settleRefund(state, event.data.refundToken, 'declined');
    case 'RefundUnresolved':
      return settleRefund(state, event.data.refundToken, 'unresolved');
    case 'ExternalRefundObserved':
      return { ...state, refundedAmount: state.refundedAmount + event.data.amount };
    case 'FinalStatusRevised':
      return revise(state, event);
    case 'AttentionRaised':
      return { ...state, attention: [...state.attention, event.data] };
    case 'AttentionResolved':
      return { ...state, attention: state.attention.filter(({ code }) => code !== event.data.code) };
    case 'AttemptNotSent':
    case 'AttemptUnresolved':
    case 'AttemptNotFound':
    case 'PaymentPending':
    case 'PaymentFailed':
    case 'ConfirmationSubmitted':
    case 'ConfirmationRefused':
    case 'ConfirmationUnresolved':
    case 'DeclineSubmitted':
    case 'DeclineRefused':
    case 'DeclineUnresolved':
      return state;
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

function submitRefund(state: Payment, { data }: PaymentEventOf<'RefundSubmitted'>): Payment {
  const { refundToken, amount, fingerprint } = data;
  if (state.refunds.some((known) => known.refundToken === refundToken))
    throw new InvariantViolation('a refund was submitted twice');
  return { ...state, refunds: [...state.refunds, { refundToken, amount, fingerprint, state: 'submitted' }] };
}

function settleRefund(
  state: Payment,
  refundToken: string,
  outcome: 'approved' | 'declined' | 'unresolved',
): Payment {
  const refund = state.refunds.find((candidate) => candidate.refundToken === refundToken);
  if (refund === undefined) throw new InvariantViolation('a refund was settled that was never submitted');
  if (refund.state === 'approved' || refund.state === 'declined')
    throw new InvariantViolation('a refund was settled twice');
  const refunds = state.refunds.map((each) => (each === refund ? { ...each, state: outcome } : each));
  const added = outcome === 'approved' ? refund.amount : 0;
  return { ...state, refunds, refundedAmount: state.refundedAmount + added };
}

function revise(state: Payment, { data }: PaymentEventOf<'FinalStatusRevised'>): Payment {
  const stands = data.to === 'approved' || data.to === 'refunded';
  const approvedAmount = stands ? (data.amount ?? state.approvedAmount) : 0;
  const token = data.serviceToken === undefined ? {} : { serviceToken: data.serviceToken };
  // The reason of the status that no longer holds goes with it.
  const { declineReason: _, ...rest } = state;
  return { ...rest, ...reason(data), ...token, heldAmount: 0, approvedAmount };
}
