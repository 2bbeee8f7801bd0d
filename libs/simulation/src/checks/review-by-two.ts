/** If it takes two people to resolve a review, no resolution is recorded that two have not given. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Complain } from './books.ts';

/** Resolutions by an observation, which needs nobody. */
const foundOut = new Set(['found', 'retrieved', 'superseded']);
/** What an operator adopts, or is found to be ours, is no question any more. */
const known = 'It belongs to a team of the gateway.';

export function createReviewsByTwo({
  isReviewByTwo,
  complain,
}: {
  isReviewByTwo: boolean;
  complain: Complain;
}) {
  /** By stream and number of the review: the latest answer, and whose it is. */
  const proposed = new Map<string, string>();
  return ({ stream, type, data, metadata }: RecordedEvent): void => {
    if (type !== 'ReviewResolutionProposed' && type !== 'ReviewResolved') return;
    const { number, resolution, reason } = data as { number: number; resolution: string; reason?: string };
    const { actor } = metadata as { actor?: { name?: string } };
    const review = `${number} of ${stream}`;
    const [first, firstBy] = proposed.get(review)?.split(' ') ?? [];
    if (type === 'ReviewResolutionProposed') {
      if (!isReviewByTwo) complain('two people', `review ${review} takes one person, and waits for another`);
      proposed.set(review, `${resolution} ${actor?.name}`);
    } else if (isReviewByTwo && !foundOut.has(resolution) && reason !== known)
      if (first !== resolution || firstBy === actor?.name)
        complain('two people', `review ${review} is resolved by ${actor?.name} alone: ${resolution}`);
  };
}
