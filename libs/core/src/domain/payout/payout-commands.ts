/** The inputs of a payout: commands, which may be refused, and observations, which never are. */
import type { CallOutcome, Origin } from '../outbound-call/outbound-call.ts';
import type { Inquired, ResolveReview, ReviewRefusal, SharedObservation } from '../shared-inputs.ts';
import type { RequestFingerprints } from '../request-fingerprint.ts';
import type { Environment } from '../values.ts';
import type { PayoutCall, PayoutReviewCode, PayoutTerms } from './payout-events.ts';

/** The provider's record of a payout. */
export interface ObservedPayout extends Origin {
  serviceToken: string;
  /** A status of payouts, or one that only the provider knows. */
  status: string;
  amount: number;
  currency: string;
  /** The `providerOrderNumber` of its call; undefined if the deployment omits it. */
  orderNumber?: string;
  declineReason?: string;
}

export type PayoutOutcome = CallOutcome<ObservedPayout>;

export interface RequestPayout extends RequestFingerprints {
  type: 'RequestPayout';
  environment: Environment;
  team: string;
  wallet: string;
  askedBy: string;
  terms: PayoutTerms;
  call: PayoutCall;
  /** Milliseconds since the Unix epoch; not recorded with the payout. */
  requestedAt: number;
}

/** The team requests a payout that a second key must approve. */
export interface AskPayoutApproval extends Omit<RequestPayout, 'type' | 'call' | 'requestedAt'> {
  type: 'AskPayoutApproval';
  /** The account that holds its reservation and will make it. */
  account: string;
  providerOrderNumber: string;
  /** Milliseconds since the Unix epoch. */
  askedAt: number;
}

export interface GrantPayout {
  type: 'GrantPayout';
  keyId: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
}

export interface RefusePayout {
  type: 'RefusePayout';
  keyId: string;
  reason: string;
}

/** It was not approved, or not sent, in time. */
interface RecordApprovalLapsed {
  type: 'RecordApprovalLapsed';
  /** Milliseconds since the Unix epoch. */
  at: number;
}

/** The payout's call has ended. */
interface RecordPayoutOutcome {
  type: 'RecordPayoutOutcome';
  outcome: PayoutOutcome;
}

/** An inquiry about the payout by its `providerOrderNumber`. */
export interface RecordPayoutSearch {
  type: 'RecordPayoutSearch';
  /** Everything that the provider has under the payout's number. */
  found: readonly ObservedPayout[];
  /** Start of the inquiry, milliseconds since the Unix epoch. */
  inquiredAt: number;
}

/** A payout was retrieved by the provider's token. */
export interface RecordPayoutObservation extends Inquired {
  type: 'RecordPayoutObservation';
  observed: ObservedPayout;
}

type PayoutCommand =
  RequestPayout | AskPayoutApproval | GrantPayout | RefusePayout | ResolveReview<PayoutReviewCode>;
export type PayoutObservation =
  | RecordPayoutOutcome
  | RecordPayoutSearch
  | RecordPayoutObservation
  | RecordApprovalLapsed
  | SharedObservation;
export type PayoutInput = PayoutCommand | PayoutObservation;

/** Why a command is refused. Closed: each code is mapped once, at the edge. */
export type PayoutRefusal =
  | { code: 'idempotency_key_reused' }
  | { code: 'payout_not_found' }
  | { code: 'payout_not_awaiting_approval' }
  | { code: 'approval_by_requester' }
  | ReviewRefusal;
