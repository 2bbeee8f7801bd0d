/**
 * Inputs of a payment: commands of a caller or a person, which may be refused, and observations of the outside, which
 * are never refused but may change nothing.
 */
import type { Metadata } from '../metadata.ts';
import type { CallOutcome, CallWindow, Origin } from '../outbound-call/outbound-call.ts';
import type { Inquired, ResolveReview, ReviewRefusal, SharedObservation } from '../shared-inputs.ts';
import type { RequestFingerprints } from '../request-fingerprint.ts';
import type { Environment } from '../values.ts';
import type { Attempt, PaymentTerms, ReviewCode } from './payment-events.ts';

/** The provider's record of a payment. */
export interface ObservedPayment extends Origin {
  serviceToken: string;
  /** A status of the specification, or an unknown one. */
  status: string;
  amount: number;
  currency: string;
  /** The `providerOrderNumber` of the attempt that made it; undefined if the deployment omits it. */
  orderNumber?: string;
  /** Undefined if the deployment shows none, which does not mean 0. */
  authorizedAmount?: number | undefined;
  /** Likewise. */
  refundedAmount?: number | undefined;
  processingUrl?: string;
  sanitizedMask?: string;
  declineReason?: string;
  /** Our alias of the recurring token in the record. */
  recurringToken?: string;
}

/** The provider's report: the specification promises only token and status. */
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
  /** `pending`, `approved`, `declined`, or a value that only the provider knows. */
  status: string;
  amount: number;
  currency: string;
}

export type AuthorizationOutcome = CallOutcome<Authorization>;
/** `observed` is the payment in the answer, if shown. */
export type CaptureOrVoidOutcome = CallOutcome<{ observed?: ObservedPayment }>;
export type RefundOutcome = CallOutcome<AcceptedRefund>;

export interface RequestPayment extends RequestFingerprints {
  type: 'RequestPayment';
  environment: Environment;
  team: string;
  wallet: string;
  askedBy: string;
  terms: PaymentTerms;
  attempt: Attempt;
}

/** Captures or voids the authorized money. */
export interface SubmitCaptureOrVoid {
  type: 'SubmitCaptureOrVoid';
  operation: 'capture' | 'void';
  window: CallWindow;
}

export interface SubmitRefund extends RequestFingerprints {
  type: 'SubmitRefund';
  refundToken: string;
  /** The id of the requesting key, and the time, milliseconds since the Unix epoch. */
  askedBy: string;
  askedAt: number;
  /** Minor units; default: all that is left. */
  amount?: number;
  metadata?: Metadata;
  /** The inquiry before it failed, so the provider's refunded sum is not known. */
  sumUnknown?: true;
  window: CallWindow;
}

/** The call of an attempt has ended. */
export interface RecordAuthorizationOutcome {
  type: 'RecordAuthorizationOutcome';
  attemptNumber: number;
  outcome: AuthorizationOutcome;
  /** Another attempt, announced if this one certainly had no effect, or its page reached no customer. */
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

/** An inquiry about an attempt without an outcome, by its `providerOrderNumber`. */
export interface RecordSearch {
  type: 'RecordSearch';
  attemptNumber: number;
  /** Everything that the provider has under the attempt's number. */
  found: readonly ObservedPayment[];
  /** Start of the inquiry, milliseconds since the Unix epoch. */
  inquiredAt: number;
  nextAttempt?: Attempt;
}

/** The payment was retrieved from the provider. */
export interface RecordObservation extends Inquired {
  type: 'RecordObservation';
  observed: ObservedPayment;
  /** When a capture or void without effect may be submitted again; absent if not now. */
  nextWindow?: CallWindow;
}

/** The provider's status of a dispute in our words. `unknown`: a value without a translation; it counts as open. */
export const disputeStates = ['open', 'won', 'lost', 'unknown'] as const;
export type DisputeState = (typeof disputeStates)[number];

/** The bank's demand, as the dispute's own stream has it at `revision`. */
export interface RecordDispute {
  type: 'RecordDispute';
  disputeToken: string;
  revision: number;
  state: DisputeState;
  /** Minor units of `currency`, which may differ from the payment's. */
  amount: number;
  currency: string;
  /** The bank's code, and the provider's status: for people. */
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
  | RecordDispute
  | SharedObservation;
export type PaymentInput = PaymentCommand | PaymentObservation;

/** Why a command is refused. Closed: each code is mapped once, at the edge. */
export type PaymentRefusal =
  | { code: 'idempotency_key_reused' }
  | { code: 'payment_not_found' }
  | { code: 'payment_not_confirmable' }
  | { code: 'payment_in_final_state' }
  | { code: 'payment_not_refundable' }
  /** Another operation on the payment is under way, or its outcome is unknown. */
  | { code: 'operation_in_progress' }
  | { code: 'refund_exceeds_amount'; refundableAmount: number; currency: string }
  /** The rest is disputed, or lost to the bank. */
  | { code: 'payment_disputed'; refundableAmount: number; currency: string }
  | { code: 'too_many_refunds' }
  /** The refunds of the payment together would exceed their metadata limit. */
  | { code: 'too_much_metadata' }
  | ReviewRefusal;
