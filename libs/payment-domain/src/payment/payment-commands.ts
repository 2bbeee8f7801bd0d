/**
 * What can be asked of a payment. The first group are wishes of a caller or a person, and may be refused; the others
 * record facts that have already happened elsewhere and are never refused, only found to be nothing new.
 */
import type { ApiError } from '@tollgate/payment-api/values';
import type { Resolution } from '../review.ts';
import type { CallWindow } from '../call-window.ts';
import type { FailedInquiry } from '../failed-inquiry.ts';
import type { Attempt, ReviewCode, Environment, PaymentTerms } from './payment-events.ts';

/** What the service says about a payment, as retrieved. */
export interface ObservedPayment {
  serviceToken: string;
  /** A status of the specification, or one that it does not know. */
  status: string;
  amount: number;
  currency: string;
  /** The `providerOrderNumber` of the attempt that made it; undefined where the deployment leaves it out. */
  orderNumber?: string;
  heldAmount: number;
  refundedAmount: number;
  processingUrl?: string;
  sanitizedMask?: string;
  declineReason?: string;
  /** Our alias of the recurring token that the service shows. */
  recurringToken?: string;
}

/** How a call ended, from the connector's classification. */
export type CallEnd<Accepted> =
  | ({ kind: 'accepted' } & Accepted)
  | { kind: 'refused'; errors: ApiError[] }
  | { kind: 'not-sent'; reason: string }
  | { kind: 'unknown'; reason: string };

export type CreationOutcome = CallEnd<{
  serviceToken: string;
  processingUrl?: string;
  amount?: number;
  currency?: string;
}>;
/** `observed` is the payment as the answer shows it, where it does. */
export type CaptureOrVoidOutcome = CallEnd<{ observed?: ObservedPayment }>;
export type RefundOutcome = CallEnd<{
  serviceRefundToken: string;
  /** `pending`, `approved`, `declined`, or what the service alone knows. */
  status: string;
  amount: number;
  currency: string;
}>;

export interface RequestPayment {
  type: 'RequestPayment';
  environment: Environment;
  team: string;
  terms: PaymentTerms;
  fingerprint: string;
  attempt: Attempt;
}

/** Takes or lets go of the money of a two-step payment. */
export interface SubmitCaptureOrVoid {
  type: 'SubmitTwoStep';
  operation: 'confirm' | 'decline';
  window: CallWindow;
}

export interface SubmitRefund {
  type: 'SubmitRefund';
  refundToken: string;
  /** Minor units; without it, all that is left. */
  amount?: number;
  fingerprint: string;
  window: CallWindow;
}

/** A person says what has become of something that waits for one. */
export interface ResolveReview {
  type: 'ResolveAttention';
  code: ReviewCode;
  /** Which one of this code. */
  number: number;
  resolution: Resolution;
  reason: string;
}

/** The call of an attempt has ended. */
export interface RecordCreationOutcome {
  type: 'RecordCreationOutcome';
  attemptNumber: number;
  outcome: CreationOutcome;
  /** A further attempt that may be announced where this one certainly had no effect. */
  nextAttempt?: Attempt;
}

/** A confirmation's or decline's call has ended. */
export interface RecordCaptureOrVoidOutcome {
  type: 'RecordTwoStepOutcome';
  operation: 'confirm' | 'decline';
  submission: number;
  outcome: CaptureOrVoidOutcome;
}

/** A refund's call has ended. */
export interface RecordRefundOutcome {
  type: 'RecordRefundOutcome';
  refundToken: string;
  outcome: RefundOutcome;
}

/** An attempt without a known outcome was looked up at the service by its `providerOrderNumber`. */
export interface RecordSearch {
  type: 'RecordLookup';
  attemptNumber: number;
  /** Everything that the service holds under the attempt's number. */
  found: readonly ObservedPayment[];
  /** When the look began, milliseconds since the Unix epoch. */
  inquiredAt: number;
  nextAttempt?: Attempt;
}

/** The payment was retrieved from the service. */
export interface RecordObservation {
  type: 'RecordObservation';
  observed: ObservedPayment;
  /** When the look began, milliseconds since the Unix epoch. */
  inquiredAt: number;
  /** When the call may be made that submits a confirmation or decline again, where it is found to have had no effect. */
  nextWindow?: CallWindow;
}

/** A callback came, and the service could not be asked what it was about. */
export interface RecordUnappliedCallback {
  type: 'RecordUnappliedCallback';
  reason: string;
  /** What the callback names, where it does. */
  serviceToken?: string;
}

/** The service was asked about the payment that a callback had named, and whatever it told is recorded. */
export interface RecordCallbackInquired {
  type: 'RecordCallbackLooked';
  serviceToken: string;
}

/** The payment was to be looked at, and the service told nothing. */
export interface RecordInquiryFailed extends FailedInquiry {
  type: 'RecordLookFailed';
}

/** The service tells, through the address that only it was given, that it has declined a refund that it had accepted. */
export interface RecordRefundDeclined {
  type: 'RecordRefundDeclined';
  serviceRefundToken: string;
}

/** The service says that it does not know the payment that it accepted. */
export interface RecordMissing {
  type: 'RecordMissing';
  serviceToken: string;
}

export type PaymentWish = RequestPayment | SubmitCaptureOrVoid | SubmitRefund | ResolveReview;
export type PaymentFact =
  | RecordCreationOutcome
  | RecordCaptureOrVoidOutcome
  | RecordRefundOutcome
  | RecordSearch
  | RecordObservation
  | RecordMissing
  | RecordRefundDeclined
  | RecordUnappliedCallback
  | RecordCallbackInquired
  | RecordInquiryFailed;
export type PaymentCommand = PaymentWish | PaymentFact;

/** Why a wish is refused. Closed: each code is mapped once, at the edge. */
export type PaymentRefusal =
  | { code: 'idempotency_key_reused' }
  | { code: 'payment_not_found' }
  /** No money of the payment is held. */
  | { code: 'payment_not_confirmable' }
  | { code: 'payment_in_final_state' }
  /** Nothing is paid yet that could be given back. */
  | { code: 'payment_not_refundable' }
  /** Another operation on the payment is under way, or its outcome is not known yet. */
  | { code: 'operation_in_progress' }
  | { code: 'refund_exceeds_amount'; refundableAmount: number }
  | { code: 'review_not_found' }
  | { code: 'resolution_not_allowed'; allowed: readonly Resolution[] };
