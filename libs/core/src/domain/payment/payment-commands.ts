/**
 * Inputs of a payment: commands of a caller or a person, which may be refused, and observations of the outside, which
 * are never refused but may change nothing.
 */
import type { Metadata } from '../metadata.ts';
import type { CallOutcome, CallWindow, Origin } from '../outbound-call/outbound-call.ts';
import type { Inquired, ResolveReview, ReviewRefusal, SharedObservation } from '../shared-inputs.ts';
import type { RequestFingerprints } from '../request-fingerprint.ts';
import type { Environment } from '../values.ts';
import type { DisputeState } from '../dispute/dispute.ts';
import type { Attempt, PaymentTerms, ReviewCode } from './payment-events.ts';

/** What the service shows of a payment. */
export interface ObservedPayment extends Origin {
  serviceToken: string;
  /** A status of the specification, or one that it does not know. */
  status: string;
  amount: number;
  currency: string;
  /** The `providerOrderNumber` of the attempt that made it; undefined where the deployment leaves it out. */
  orderNumber?: string;
  /** Undefined if the deployment shows none: that is not 0. */
  authorizedAmount?: number | undefined;
  /** Likewise. */
  refundedAmount?: number | undefined;
  processingUrl?: string;
  sanitizedMask?: string;
  declineReason?: string;
  /** Our alias of the recurring token that the service shows. */
  recurringToken?: string;
}

/** As the provider reports it: the specification promises no more than token and status. */
export type ReportedPayment = Omit<ObservedPayment, 'amount' | 'currency' | 'recurringToken'> & {
  amount?: number;
  currency?: string;
};

export interface Authorization {
  serviceToken: string;
  processingUrl?: string;
  amount?: number;
  currency?: string;
}

export interface AcceptedRefund {
  serviceRefundToken: string;
  /** `pending`, `approved`, `declined`, or one that only the service knows. */
  status: string;
  amount: number;
  currency: string;
}

export type AuthorizationOutcome = CallOutcome<Authorization>;
/** `observed` is the payment as the answer shows it, where it does. */
export type CaptureOrVoidOutcome = CallOutcome<{ observed?: ObservedPayment }>;
export type RefundOutcome = CallOutcome<AcceptedRefund>;

export interface RequestPayment extends RequestFingerprints {
  type: 'RequestPayment';
  environment: Environment;
  team: string;
  wallet: string;
  /** The id of the key that asks. */
  askedBy: string;
  terms: PaymentTerms;
  attempt: Attempt;
}

/** Takes the authorized money, or lets it go. */
export interface SubmitCaptureOrVoid {
  type: 'SubmitCaptureOrVoid';
  operation: 'capture' | 'void';
  window: CallWindow;
}

export interface SubmitRefund extends RequestFingerprints {
  type: 'SubmitRefund';
  refundToken: string;
  /** The id of the key that asks, and when, milliseconds since the Unix epoch. */
  askedBy: string;
  askedAt: number;
  /** Minor units; without it, all that is left. */
  amount?: number;
  metadata?: Metadata;
  /** The service could not be inquired before, so what it has refunded by now is not known. */
  sumUnknown?: true;
  window: CallWindow;
}

/** The call of an attempt has ended. */
export interface RecordAuthorizationOutcome {
  type: 'RecordAuthorizationOutcome';
  attemptNumber: number;
  outcome: AuthorizationOutcome;
  /** A further attempt, announced if this one certainly had no effect, or if nobody was given its page. */
  nextAttempt?: Attempt;
}

/** The call of a capture or void has ended. */
export interface RecordCaptureOrVoidOutcome {
  type: 'RecordCaptureOrVoidOutcome';
  operation: 'capture' | 'void';
  submission: number;
  outcome: CaptureOrVoidOutcome;
}

/** The call of a refund has ended. */
export interface RecordRefundOutcome {
  type: 'RecordRefundOutcome';
  refundToken: string;
  outcome: RefundOutcome;
}

/** The service was asked for an attempt without an outcome, by its `providerOrderNumber`. */
export interface RecordSearch {
  type: 'RecordSearch';
  attemptNumber: number;
  /** Everything that the service has under the attempt's number. */
  found: readonly ObservedPayment[];
  /** When the inquiry began, milliseconds since the Unix epoch. */
  inquiredAt: number;
  nextAttempt?: Attempt;
}

/** The payment was retrieved from the service. */
export interface RecordObservation extends Inquired {
  type: 'RecordObservation';
  observed: ObservedPayment;
  /** When a capture or void that had no effect may be submitted again; absent if it may not be now. */
  nextWindow?: CallWindow;
}

/** A callback reports that the service declined a refund that it had accepted. It is evidence, and proves nothing. */
export interface RecordRefundDeclineReported {
  type: 'RecordRefundDeclineReported';
  serviceRefundToken: string;
}

/** What the customer's bank wants back of the payment, as the dispute's own stream has it at `revision`. */
export interface RecordDispute {
  type: 'RecordDispute';
  disputeToken: string;
  revision: number;
  state: DisputeState;
  /** Minor units of `currency`, which may be another one than the payment's. */
  amount: number;
  currency: string;
  /** The bank's code, and what the provider calls its status: for people. */
  reasonCode?: string;
  status: string;
}

export type PaymentCommand = RequestPayment | SubmitCaptureOrVoid | SubmitRefund | ResolveReview<ReviewCode>;
export type PaymentObservation =
  | RecordAuthorizationOutcome
  | RecordCaptureOrVoidOutcome
  | RecordRefundOutcome
  | RecordSearch
  | RecordObservation
  | RecordRefundDeclineReported
  | RecordDispute
  | SharedObservation;
export type PaymentInput = PaymentCommand | PaymentObservation;

/** Why a command is refused. Closed: each code is mapped once, at the edge. */
export type PaymentRefusal =
  | { code: 'idempotency_key_reused' }
  | { code: 'payment_not_found' }
  /** No money of the payment is authorized. */
  | { code: 'payment_not_confirmable' }
  | { code: 'payment_in_final_state' }
  /** Nothing is paid yet. */
  | { code: 'payment_not_refundable' }
  /** Another operation on the payment is under way, or its outcome is unknown. */
  | { code: 'operation_in_progress' }
  | { code: 'refund_exceeds_amount'; refundableAmount: number; currency: string }
  /** The rest is disputed, or lost to the bank. */
  | { code: 'payment_disputed'; refundableAmount: number; currency: string }
  | { code: 'too_many_refunds' }
  /** With it, the refunds of the payment would have more than they may have together. */
  | { code: 'too_much_metadata' }
  | ReviewRefusal;
