import type { Review } from '@tollgate/payment-domain';

interface WithReviews {
  reviews: readonly Review[];
}

/**
 * When each open attention of `after` was raised, in their order: what was open before keeps its time, and what is new
 * has that of the event, `recordedAt`. Several of one code may be open at a time.
 */
export function reviewsSinceAfter(
  since: readonly number[] | undefined,
  { before, after, recordedAt }: { before: WithReviews | undefined; after: WithReviews; recordedAt: number },
): readonly number[] {
  if (since !== undefined && before?.reviews === after.reviews) return since;
  const known = before?.reviews ?? [];
  // An event adds some and takes some away; those that stay are the very same.
  return after.reviews.map((open) => since?.[known.indexOf(open)] ?? recordedAt);
}
