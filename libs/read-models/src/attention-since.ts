import type { Attention } from '@tollgate/payment-domain';

interface Attending {
  attention: readonly Attention[];
}

/**
 * When each open attention of `after` was raised, in their order: what was open before keeps its time, and what is new
 * has that of the event, `recordedAt`. Several of one code may be open at a time.
 */
export function attentionSinceAfter(
  since: readonly number[] | undefined,
  { before, after, recordedAt }: { before: Attending | undefined; after: Attending; recordedAt: number },
): readonly number[] {
  if (since !== undefined && before?.attention === after.attention) return since;
  const known = before?.attention ?? [];
  // An event adds some and takes some away; those that stay are the very same.
  return after.attention.map((open) => since?.[known.indexOf(open)] ?? recordedAt);
}
