/** A team's key cannot release money by resolving a review. If a resolution takes two people, both have given it. */
import type { RecordedEvent } from '@tollgate/event-store';
import { type Complain, freeing } from './books.ts';

/** Resolutions by observation, without a person. */
const foundOut = new Set(['found', 'retrieved', 'superseded']);
/** The review is closed when an operator adopts the payment or it is found to be ours. */
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
  /** By stream and review number: the latest resolution and its author. */
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
