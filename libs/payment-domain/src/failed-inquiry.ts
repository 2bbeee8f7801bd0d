/** Status inquiries that the service does not answer while an outcome is unknown. */
import {
  openReview,
  resolveOpen,
  type Reviewable,
  type ReviewOpened,
  type ReviewResolved,
} from './review.ts';

/**
 * Why a payment or payout is inquired again: `unresolved`, because the outcome of a call is unknown; `open`, because the
 * service has not finished it.
 */

export type InquiryNeed = 'unresolved' | 'open';

/** The account is not configured, the service refuses us, or it does not answer. */
export type InquiryFailure = 'account_missing' | 'refused' | 'no_answer';

export interface FailedInquiry {
  reason: InquiryFailure;
  /** The account of the inquiry, configured or not. */
  account: string;
  /** Milliseconds since the Unix epoch. */
  failedAt: number;
}

const hour = 60 * 60 * 1000;

/** How long after the latest call's quiet period the service may leave inquiries without an answer, milliseconds. */
const noAnswerPatienceMs: Record<InquiryNeed, number> = { unresolved: hour, open: 24 * hour };

const code = 'service_not_readable';

/** Opens a review: at once where waiting cannot help, after patience where it may. */
export function openNotReadable(
  state: Reviewable,
  { reason, account, failedAt }: FailedInquiry,
  { inquiryNeed, quietUntil }: { inquiryNeed: InquiryNeed | undefined; quietUntil: number },
): ReviewOpened<typeof code>[] {
  if (inquiryNeed === undefined) return [];
  if (reason === 'no_answer' && failedAt < quietUntil + noAnswerPatienceMs[inquiryNeed]) return [];
  return openReview(state, code, { reason, account });
}

/** The service has answered, whatever it said. */
export const resolveNotReadable = <Code extends string>(
  state: Reviewable<Code | typeof code>,
): ReviewResolved<Code | typeof code>[] =>
  resolveOpen<Code | typeof code>(state, [code], 'retrieved', 'the service was asked later');
