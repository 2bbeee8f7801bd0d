/** Permission to answer a review: answers for operators only, and reviews that take two people. */
import type { Clock } from '@tollgate/service-kit';
import type { Requester } from '../domain/requester.ts';
import type { Proposer, Resolution } from '../domain/review.ts';
import type { Environment } from '../domain/values.ts';

/** These can free money of a wallet. A key of the team may give the others, which free none. */
export const operatorResolutions: readonly Resolution[] = [
  'accept_theirs',
  'payout_not_made',
  'refund_not_made',
  'dispute_won',
  'dispute_lost',
];

/**
 * `person_required`: two people must decide, and a key is not a person. `operator_required`: the gaining team cannot decide.
 */
export interface KeyRefusal {
  code: 'person_required' | 'operator_required';
}

/**
 * Undefined if any caller is enough. One human may have several keys, so a key does not count as a person if two are needed.
 */
export function proposerOf(
  { reviewsByTwo, clock }: { reviewsByTwo: readonly Environment[]; clock: Clock },
  { caller: { operator }, resolution }: { caller: Requester; resolution: Resolution },
  { environment }: { environment: Environment },
): Proposer | KeyRefusal['code'] | undefined {
  const takesTwo = reviewsByTwo.includes(environment);
  if (operator !== undefined) return takesTwo ? { name: operator.person, at: clock.now() } : undefined;
  if (takesTwo) return 'person_required';
  return operatorResolutions.includes(resolution) ? 'operator_required' : undefined;
}
