/** Status inquiries that the service does not answer while an outcome is unknown. */
import type { Deferring } from './deferred-callback.ts';
import {
  openReview,
  resolveWhere,
  type Reviewable,
  type ReviewOpened,
  type ReviewResolved,
} from './review.ts';

/**
 * Why a payment or payout is inquired again: `unresolved`, because the outcome of a call is unknown or a callback was
 * deferred; `open`, because the service has not finished it; `settled`, because the service may revise what is final.
 */
export const inquiryNeeds = ['unresolved', 'open', 'settled'] as const;
export type InquiryNeed = (typeof inquiryNeeds)[number];

/** The account is not configured, the service refuses us, or it does not answer. */
export type InquiryFailure = 'account_missing' | 'refused' | 'no_answer';

export interface FailedInquiry {
  reason: InquiryFailure;
  /** The account of the inquiry, configured or not. */
  account: string;
  /** Milliseconds since the Unix epoch. */
  failedAt: number;
  /** When something changed or an inquiry was answered last, as far as is known, milliseconds since the Unix epoch. */
  answeredAt?: number;
}

const hour = 60 * 60 * 1000;

/** How long after the latest call's quiet period and the last answer the service may leave inquiries without one, milliseconds. */
const noAnswerPatienceMs: Record<Exclude<InquiryNeed, 'settled'>, number> = {
  unresolved: hour,
  open: 24 * hour,
};

const code = 'service_not_readable';

/** Opens a review: at once if waiting cannot help, after patience if it may. */
export function openNotReadable(
  state: Reviewable,
  { reason, account, failedAt, answeredAt = 0 }: FailedInquiry,
  { inquiryNeed, quietUntil }: { inquiryNeed: InquiryNeed; quietUntil: number },
): (ReviewOpened<typeof code> | ReviewResolved<typeof code>)[] {
  // It is final as far as is known: an account that answers no more needs no action.
  if (inquiryNeed === 'settled') return [];
  const silentSince = Math.max(quietUntil, answeredAt);
  if (reason === 'no_answer' && failedAt < silentSince + noAnswerPatienceMs[inquiryNeed]) return [];
  return openReview(state, code, { reason, account, inquiryNeed });
}

/** The provider has answered. What a deferred callback names may be with an account that does not. */
export const resolveNotReadable = <Code extends string>({
  reviews,
  acknowledged,
  deferredCallbacks,
}: Pick<Reviewable<Code>, 'reviews' | 'acknowledged'> & Deferring): ReviewResolved<Code>[] =>
  deferredCallbacks.length > 0
    ? []
    : resolveWhere({ reviews: [...reviews, ...acknowledged] }, (each) => each.code === code, 'retrieved');
