/** Where it takes two persons to resolve a review, no answer holds that two have not given. */
import type { RecordedEvent } from '@tollgate/event-store';

export interface ReviewsByTwo {
  onRecorded(event: Pick<RecordedEvent, 'stream' | 'type' | 'data' | 'metadata'>): void;
}

interface Answer {
  number: number;
  resolution: string;
  reason?: string;
}

/** What an operator takes over at the machine, or is found to be ours, is no question any more (docs/adr/0016-keys-people-and-dual-control.md). */
const known = 'It belongs to a team of the gateway.';

/** By these an observation ends a review, and nobody has to agree. */
const foundOut = new Set(['found', 'retrieved', 'superseded']);

export function createReviewsByTwo({
  isOn,
  complain,
}: {
  isOn: boolean;
  complain: (invariant: string, text: string) => void;
}): ReviewsByTwo {
  /** By stream and number of the review: the latest answer, and whose it is. */
  const proposed = new Map<string, { resolution: string; by: string }>();
  return {
    onRecorded({ stream, type, data, metadata }) {
      if (type !== 'ReviewResolutionProposed' && type !== 'ReviewResolved') return;
      const { number, resolution, reason } = data as Answer;
      const review = `${number} of ${stream}`;
      const by = (metadata as { actor?: { name?: string } }).actor?.name ?? '';
      if (type === 'ReviewResolutionProposed') {
        if (!isOn) complain('two persons', `review ${review} takes one person, and waits for another`);
        proposed.set(review, { resolution, by });
        return;
      }
      if (!isOn || foundOut.has(resolution) || reason === known) return;
      const first = proposed.get(review);
      if (first?.resolution !== resolution || first.by === by)
        complain('two persons', `review ${review} is resolved by ${by} alone: ${resolution}`);
    },
  };
}
