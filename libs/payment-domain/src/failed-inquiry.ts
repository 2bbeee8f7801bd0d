/** Looks that the service gives no answer to, while there is something to be found out. */
import {
  openReview,
  resolveOpen,
  type Reviewable,
  type ReviewOpened,
  type ReviewResolved,
} from './review.ts';
import type { InquiryNeed } from './payment/inquiry-need.ts';

/** Why a look told nothing: nobody to ask as, the service refuses us, or it does not answer. */
export type InquiryFailure = 'account_missing' | 'refused' | 'no_answer';

export interface FailedInquiry {
  reason: InquiryFailure;
  /** The account that the service was, or would have been, asked as. */
  account: string;
  /** Milliseconds since the Unix epoch. */
  failedAt: number;
}

/** How long after the latest call has become quiet the service may leave looks without an answer, milliseconds. */
export const noAnswerPatienceMs: Record<InquiryNeed, number> = {
  unresolved: 60 * 60 * 1000,
  open: 24 * 60 * 60 * 1000,
};

const code = 'service_not_readable';

/** Calls a person: at once where time will not mend it, and where it may only after patience. */
export function raiseNotReadable(
  state: Reviewable,
  { reason, account, failedAt }: FailedInquiry,
  { inquiryNeed, quietUntil }: { inquiryNeed: InquiryNeed | undefined; quietUntil: number },
): ReviewOpened<typeof code>[] {
  if (inquiryNeed === undefined) return [];
  if (reason === 'no_answer' && failedAt < quietUntil + noAnswerPatienceMs[inquiryNeed]) return [];
  return openReview(state, code, { reason, account });
}

/** A look has told something, whatever it was. */
export const endNotReadable = <Code extends string>(
  state: Reviewable<Code | typeof code>,
): ReviewResolved<Code | typeof code>[] =>
  resolveOpen<Code | typeof code>(state, code, 'retrieved', 'the service was asked later');
