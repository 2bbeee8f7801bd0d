/** Commands and observations that payments and payouts share. */
import type { FailedInquiry } from './failed-inquiry.ts';
import type { Proposer, Resolution } from './review.ts';

/** A person resolves an open review. */
export interface ResolveReview<Code extends string = string> {
  type: 'ResolveReview';
  code: Code;
  /** The number of the review, within its code. */
  number: number;
  resolution: Resolution;
  reason: string;
  /** Set if an operator answers, and not a team's key: `keep_ours` then reserves nothing. */
  releases?: true;
  /** Set if a second person must agree. */
  proposer?: Proposer;
}

/** Start of an inquiry, and time of its subject's latest event, milliseconds since the Unix epoch. */
export interface Inquired {
  inquiredAt: number;
  changedAt: number;
}

/** Maximum lag of the provider's answers, milliseconds. */
const staleMs = 30 * 60 * 1000;

/** True if the answer may predate the last change. */
export const isStale = ({ inquiredAt, changedAt }: Inquired): boolean => inquiredAt < changedAt + staleMs;

/** The provider does not know an operation that it accepted. */
interface RecordMissing {
  type: 'RecordMissing';
  serviceToken: string;
  /** Start of the inquiry, milliseconds since the Unix epoch. */
  inquiredAt: number;
}

/** A callback arrived, and its subject could not be inquired. */
interface DeferCallback {
  type: 'DeferCallback';
  /** The provider's token in the callback, if any. */
  serviceToken?: string;
  /** Milliseconds since the Unix epoch. */
  deferredAt: number;
}

/** The token of a callback was inquired, and the answer is recorded. */
interface RecordCallbackInquired {
  type: 'RecordCallbackInquired';
  serviceToken: string;
}

/** The provider did not answer an inquiry. */
interface RecordInquiryFailed extends FailedInquiry {
  type: 'RecordInquiryFailed';
}

export type SharedObservation = RecordMissing | DeferCallback | RecordCallbackInquired | RecordInquiryFailed;

export type ReviewRefusal =
  { code: 'review_not_found' } | { code: 'resolution_not_allowed'; allowed: readonly Resolution[] };
