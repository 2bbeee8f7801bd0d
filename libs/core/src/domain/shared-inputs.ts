/** Commands and observations that payments and payouts share. */
import type { FailedInquiry } from './failed-inquiry.ts';
import type { Proposer, Resolution } from './review.ts';

/** A person resolves an open review. */
export interface ResolveReview<Code extends string = string> {
  type: 'ResolveReview';
  code: Code;
  /** Which one of this code. */
  number: number;
  resolution: Resolution;
  reason: string;
  /** Set if an operator answers, and not a team's key: `keep_ours` then reserves nothing any more. */
  releases?: true;
  /** Present where it takes a second person to agree; absent if one is enough. */
  proposer?: Proposer;
}

/** When an inquiry began, and when the latest event of what it is about was recorded, milliseconds since the Unix epoch. */
export interface Inquired {
  inquiredAt: number;
  changedAt: number;
}

/** How long the provider may show something as it was before its last change, milliseconds. */
const staleMs = 30 * 60 * 1000;

/** True if the answer may show the state before the last change. */
export const isStale = ({ inquiredAt, changedAt }: Inquired): boolean => inquiredAt < changedAt + staleMs;

/** The service does not know what it accepted. */
interface RecordMissing {
  type: 'RecordMissing';
  serviceToken: string;
  /** When the inquiry began, milliseconds since the Unix epoch. */
  inquiredAt: number;
}

/** A callback came, and the service could not be asked what it was about. */
interface DeferCallback {
  type: 'DeferCallback';
  /** What the callback names, where it does. */
  serviceToken?: string;
  /** Milliseconds since the Unix epoch. */
  deferredAt: number;
}

/** The service was asked about what a callback had named, and the answer is recorded. */
interface RecordCallbackInquired {
  type: 'RecordCallbackInquired';
  serviceToken: string;
}

/** The service gave no answer to an inquiry. */
interface RecordInquiryFailed extends FailedInquiry {
  type: 'RecordInquiryFailed';
}

export type SharedObservation = RecordMissing | DeferCallback | RecordCallbackInquired | RecordInquiryFailed;

/** Why an answer to a review is refused. */
export type ReviewRefusal =
  { code: 'review_not_found' } | { code: 'resolution_not_allowed'; allowed: readonly Resolution[] };
