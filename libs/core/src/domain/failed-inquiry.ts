/** Status inquiries that the provider does not answer while an outcome is unknown. */
import type { Deferring } from './deferred-callback.ts';
import {
  openReview,
  resolveWhere,
  type Reviewable,
  type ReviewOpened,
  type ReviewResolved,
} from './review.ts';

/**
 * Why a payment or payout is inquired again: `unresolved`: the outcome of a call is unknown or a callback was deferred;
 * `open`: the provider has not finished it; `settled`: the provider may still revise the final status.
 */
export const inquiryNeeds = ['unresolved', 'open', 'settled'] as const;
export type InquiryNeed = (typeof inquiryNeeds)[number];

/** The account is not configured, the provider refuses us, or it does not answer. */
export type InquiryFailure = 'account_missing' | 'refused' | 'no_answer';

export interface FailedInquiry {
  reason: InquiryFailure;
  account: string;
  /** Milliseconds since the Unix epoch. */
  failedAt: number;
  /** The last known change or answered inquiry, milliseconds since the Unix epoch. */
  answeredAt?: number;
}

const hour = 60 * 60 * 1000;

/** Patience after the latest call's quiet period and the last answer, milliseconds. */
const noAnswerPatienceMs: Record<Exclude<InquiryNeed, 'settled'>, number> = {
  unresolved: hour,
  open: 24 * hour,
};

const code = 'service_not_readable';

/** Opens a review: at once if waiting cannot help, otherwise after the patience. */
export function openNotReadable(
  state: Reviewable,
  { reason, account, failedAt, answeredAt = 0 }: FailedInquiry,
  { inquiryNeed, quietUntil }: { inquiryNeed: InquiryNeed; quietUntil: number },
): (ReviewOpened<typeof code> | ReviewResolved<typeof code>)[] {
  // The status is final: an account that no longer answers requires no action.
  if (inquiryNeed === 'settled') return [];
  const silentSince = Math.max(quietUntil, answeredAt);
  if (reason === 'no_answer' && failedAt < silentSince + noAnswerPatienceMs[inquiryNeed]) return [];
  return openReview(state, code, { reason, account, inquiryNeed });
}

/** The provider has answered. The payment of a deferred callback may belong to an account that does not answer. */
export const resolveNotReadable = <Code extends string>({
  reviews,
  acknowledged,
  deferredCallbacks,
}: Pick<Reviewable<Code>, 'reviews' | 'acknowledged'> & Deferring): ReviewResolved<Code>[] =>
  deferredCallbacks.length > 0
    ? []
    : resolveWhere({ reviews: [...reviews, ...acknowledged] }, (each) => each.code === code, 'retrieved');
