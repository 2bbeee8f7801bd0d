/** The inputs of a payout: commands, which may be refused, and observations, which never are. */
import type { CallOutcome, Origin } from '../outbound-call/outbound-call.ts';
import type { Inquired, ResolveReview, ReviewRefusal, SharedObservation } from '../shared-inputs.ts';
import type { RequestFingerprints } from '../request-fingerprint.ts';
import type { Environment } from '../values.ts';
import type { PayoutCall, PayoutReviewCode, PayoutTerms } from './payout-events.ts';

/** What the service shows of a payout. */
export interface ObservedPayout extends Origin {
  serviceToken: string;
  /** A status that payouts have, or one that only the service knows. */
  status: string;
  amount: number;
  currency: string;
  /** The `providerOrderNumber` that it was made under; undefined where the deployment leaves it out. */
  orderNumber?: string;
  declineReason?: string;
}

export type PayoutOutcome = CallOutcome<ObservedPayout>;

export interface RequestPayout extends RequestFingerprints {
  type: 'RequestPayout';
  environment: Environment;
  team: string;
  wallet: string;
  /** The id of the key that asks. */
  askedBy: string;
  terms: PayoutTerms;
  call: PayoutCall;
  /** Milliseconds since the Unix epoch; it is not recorded with the payout. */
  requestedAt: number;
}

/** The team asks for a payout that a second key must approve. */
export interface AskPayoutApproval extends Omit<RequestPayout, 'type' | 'call' | 'requestedAt'> {
  type: 'AskPayoutApproval';
  /** The account in which its amount is reserved, and that is to make it. */
  account: string;
  providerOrderNumber: string;
  /** Milliseconds since the Unix epoch. */
  askedAt: number;
}

/** A second key approves it. */
export interface GrantPayout {
  type: 'GrantPayout';
  keyId: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
}

/** A second key refuses it. */
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

/** The service was asked for the payout by its `providerOrderNumber`. */
export interface RecordPayoutSearch {
  type: 'RecordPayoutSearch';
  /** Everything that the service has under the payout's number. */
  found: readonly ObservedPayout[];
  /** When the inquiry began, milliseconds since the Unix epoch. */
  inquiredAt: number;
}

/** A payout was retrieved by the service's token. */
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
