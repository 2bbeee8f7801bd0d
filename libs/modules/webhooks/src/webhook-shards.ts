/**
 * Shards of deliveries, so that several processes send webhooks. A receiver belongs to one shard, which knows whether an
 * endpoint accepts other webhooks. The first shard records due webhooks for all of them.
 */
import type { Limits } from './fair-queue.ts';

export interface Shard {
  /** From 1 to `count`. */
  number: number;
  count: number;
}

/** At most the concurrency limit per origin, which they share. */
export const webhookShardsMax = 4;

export const shardsOf = (count: number): Shard[] =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, count }));

/** @param queue of a standing endpoint: begins with its id */
export function isDeliveredBy({ number, count }: Shard, queue: string): boolean {
  const [receiver = ''] = queue.split('.');
  return (fnv1a(receiver) % count) + 1 === number;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** The share of one shard: together they keep the concurrency limit of one notifier. */
export const limitsOf = ({ count }: Shard, { total, perTeam, perOrigin }: Limits): Limits => ({
  total,
  perTeam: Math.max(1, Math.floor(perTeam / count)),
  perOrigin: Math.max(1, Math.floor(perOrigin / count)),
});
