/** A key of a team frees no money by its answer. If it takes two people to resolve a review, both have given the resolution. */
import type { RecordedEvent } from '@tollgate/event-store';
import { type Complain, freeing } from './books.ts';

/** Resolutions by an observation, which needs nobody. */
const foundOut = new Set(['found', 'retrieved', 'superseded']);
/** What an operator adopts, or is found to be ours, is no question any more. */
const known = 'It belongs to a team of the gateway.';

interface Answer {
  number: number;
  resolution: string;
  reason?: string;
  releases?: true;
}

export function createReviewChecks({
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
    const { number, resolution, reason, releases } = data as Answer;
    const { actor } = metadata as { actor?: { kind: string; name?: string } };
    const review = `${number} of ${stream}`;
    if (actor?.kind === 'team' && (freeing.has(resolution) || releases === true))
      complain('I20', `a key of the team resolves review ${review}: ${resolution}`);
    const [first, firstBy] = proposed.get(review)?.split(' ') ?? [];
    if (type === 'ReviewResolutionProposed') {
      if (!isReviewByTwo) complain('two people', `review ${review} takes one person, and waits for another`);
      proposed.set(review, `${resolution} ${actor?.name}`);
    } else if (isReviewByTwo && !foundOut.has(resolution) && reason !== known)
      if (first !== resolution || firstBy === actor?.name)
        complain('two people', `review ${review} is resolved by ${actor?.name} alone: ${resolution}`);
  };
}
