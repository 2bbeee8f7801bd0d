/** Postpones the inquiry of a payment that a reconciliation found unchanged. */
import {
  type DueInquiries,
  type InquiryDelays,
  type Postponed,
  inquiryNeedOf,
  inquiryNeedOfPayout,
  nextInquiryAt,
  isPayoutToken,
} from '@tollgate/core';
import type { Clock } from '@tollgate/service-kit';
import type { Books } from './comparison.ts';

/** Postpones the next inquiry of a settled payment: a comparison replaces the inquiries up to twice the payment's age. */
export async function postponeVerified(
  deps: {
    books: Pick<Books, 'find'>;
    index: Pick<DueInquiries, 'postpone'>;
    inquiryDelays: InquiryDelays;
    clock: Pick<Clock, 'now'>;
  },
  tokens: readonly string[],
): Promise<void> {
  const { books, index, inquiryDelays, clock } = deps;
  const now = clock.now();
  const postponed = tokens.flatMap((token): Postponed[] => {
    const kind = isPayoutToken(token) ? 'payout' : 'payment';
    const view = books.find(kind, token);
    if (view === undefined) return [];
    const inquiryNeed = 'payment' in view ? inquiryNeedOf(view.payment) : inquiryNeedOfPayout(view.payout);
    if (inquiryNeed !== 'settled') return [];
    const { updatedAt, revision } = view;
    const after = now + Math.max(0, now - updatedAt);
    return [
      {
        item: { kind, token, revision },
        dueAt: nextInquiryAt({ token, inquiryNeed, updatedAt }, after, inquiryDelays),
      },
    ];
  });
  await index.postpone(postponed);
}
