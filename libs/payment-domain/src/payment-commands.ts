/**
 * What can be asked of a payment. `RequestPayment` is a caller's wish and may be refused; the others record facts that
 * have already happened elsewhere and are never refused, only found to be nothing new.
 */
import type { ApiError } from '@tollgate/payment-api/values';
import type { Attempt, Environment, PaymentTerms } from './payment-events.ts';

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
}

/** How a creation call ended, from the connector's classification. */
export type CreationOutcome =
  | { kind: 'accepted'; serviceToken: string; processingUrl?: string; amount?: number; currency?: string }
  | { kind: 'refused'; errors: ApiError[] }
  | { kind: 'not-sent'; reason: string }
  | { kind: 'unknown'; reason: string };

export interface RequestPayment {
  type: 'RequestPayment';
  environment: Environment;
  team: string;
  terms: PaymentTerms;
  fingerprint: string;
  attempt: Attempt;
}

/** The call of an attempt has ended. */
export interface RecordCreationOutcome {
  type: 'RecordCreationOutcome';
  attemptNumber: number;
  outcome: CreationOutcome;
  /** A further attempt that may be announced where this one certainly had no effect. */
  nextAttempt?: Attempt;
}

/** An attempt without a known outcome was looked up at the service by its `providerOrderNumber`. */
export interface RecordLookup {
  type: 'RecordLookup';
  attemptNumber: number;
  /** Everything that the service holds under the attempt's number. */
  found: readonly ObservedPayment[];
  /** When the look began, milliseconds since the Unix epoch. */
  lookedAt: number;
  nextAttempt?: Attempt;
}

/** The payment was retrieved from the service. */
export interface RecordObservation {
  type: 'RecordObservation';
  observed: ObservedPayment;
}

/** A callback came, and the service could not be asked what it was about. */
export interface RecordUnappliedCallback {
  type: 'RecordUnappliedCallback';
  reason: string;
}

/** The service says that it does not know the payment that it accepted. */
export interface RecordMissing {
  type: 'RecordMissing';
  serviceToken: string;
}

export type PaymentCommand =
  | RequestPayment
  | RecordCreationOutcome
  | RecordLookup
  | RecordObservation
  | RecordMissing
  | RecordUnappliedCallback;

/** Why a wish is refused. Closed: each code is mapped once, at the edge. */
export interface PaymentRefusal {
  code: 'idempotency_key_reused';
}

/** Events to append (none: nothing new), or a refusal. */
export type Decision<Event, Refusal> =
  { kind: 'events'; events: readonly Event[] } | { kind: 'refused'; refusal: Refusal };
