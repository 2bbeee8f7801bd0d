/**
 * What can be asked of a payout. The first group are wishes of a caller or a person, and may be refused; the others
 * record facts that have already happened elsewhere and are never refused, only found to be nothing new.
 */
import type { Resolution } from '../review.ts';
import type { FailedInquiry } from '../failed-inquiry.ts';
import type { CallEnd } from '../payment/payment-commands.ts';
import type { Environment } from '../payment/payment-events.ts';
import type { PayoutReviewCode, PayoutCall, PayoutTerms } from './payout-events.ts';

/** What the service says about a payout, as retrieved. */
export interface ObservedPayout {
  serviceToken: string;
  /** A status that payouts have, or one that only the service knows. */
  status: string;
  amount: number;
  currency: string;
  /** The `providerOrderNumber` that it was made under; undefined where the deployment leaves it out. */
  orderNumber?: string;
  declineReason?: string;
}

export type PayoutOutcome = CallEnd<{
  serviceToken: string;
  status: string;
  amount: number;
  currency: string;
  declineReason?: string;
}>;

export interface RequestPayout {
  type: 'RequestPayout';
  environment: Environment;
  team: string;
  terms: PayoutTerms;
  fingerprint: string;
  call: PayoutCall;
}

/** A person says what has become of something that waits for one. */
export interface ResolvePayoutReview {
  type: 'ResolvePayoutAttention';
  code: PayoutReviewCode;
  /** Which one of this code. */
  number: number;
  resolution: Resolution;
  reason: string;
}

/** The payout's call has ended. */
export interface RecordPayoutOutcome {
  type: 'RecordPayoutOutcome';
  outcome: PayoutOutcome;
}

/** The payout was looked up at the service by its `providerOrderNumber`. */
export interface RecordPayoutSearch {
  type: 'RecordPayoutLookup';
  /** Everything that the service holds under the payout's number. */
  found: readonly ObservedPayout[];
  /** When the look began, milliseconds since the Unix epoch. */
  inquiredAt: number;
}

/** A payout was retrieved from the service by the service's token. */
export interface RecordPayoutObservation {
  type: 'RecordPayoutObservation';
  observed: ObservedPayout;
  /** When the look began, milliseconds since the Unix epoch. */
  inquiredAt: number;
}

/** The service says that it does not know the payout that it accepted. */
export interface RecordPayoutMissing {
  type: 'RecordPayoutMissing';
  serviceToken: string;
}

/** A callback came, and the service could not be asked what it was about. */
export interface RecordUnappliedPayoutCallback {
  type: 'RecordUnappliedPayoutCallback';
  reason: string;
  /** What the callback names, where it does. */
  serviceToken?: string;
}

/** The service was asked about the payout that a callback had named, and whatever it told is recorded. */
export interface RecordPayoutCallbackInquired {
  type: 'RecordPayoutCallbackLooked';
  serviceToken: string;
}

/** The payout was to be looked at, and the service told nothing. */
export interface RecordPayoutInquiryFailed extends FailedInquiry {
  type: 'RecordPayoutLookFailed';
}

export type PayoutWish = RequestPayout | ResolvePayoutReview;
export type PayoutFact =
  | RecordPayoutOutcome
  | RecordPayoutSearch
  | RecordPayoutObservation
  | RecordPayoutMissing
  | RecordUnappliedPayoutCallback
  | RecordPayoutCallbackInquired
  | RecordPayoutInquiryFailed;
export type PayoutCommand = PayoutWish | PayoutFact;

/** Why a wish is refused. Closed: each code is mapped once, at the edge. */
export type PayoutRefusal =
  | { code: 'idempotency_key_reused' }
  | { code: 'payout_not_found' }
  | { code: 'review_not_found' }
  | { code: 'resolution_not_allowed'; allowed: readonly Resolution[] };
