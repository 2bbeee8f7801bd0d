/**
 * The shards of webhooks, so that several processes share the work. Those of one payment are recorded by one shard, and
 * those to one standing endpoint are delivered by one: it knows whether the endpoint takes others.
 */
import type { EventStore, Position } from '@tollgate/event-store';
import { type Shard, readFurthestShards, shardNumberOf } from '@tollgate/views';
import type { z } from 'zod';
import type { Limits } from './fair-queue.ts';

/** As many as the limit of concurrent attempts to one origin, which they share. */
export const webhookShardsMax = 4;

const isInShard = ({ number, count }: Shard, key: string): boolean =>
  count === 1 || shardNumberOf(key, count) === number;

/** @param token of the payment or payout */
export const isRecordedBy = (shard: Shard, token: string): boolean => isInShard(shard, token);

/** @param token of the stream of webhooks: that of a standing endpoint begins with its id */
export const isDeliveredBy = (shard: Shard, token: string): boolean => {
  const [receiver = ''] = token.split('.');
  return isInShard(shard, receiver);
};

export const checkpointStreamOf = (name: string, { number, count }: Shard): string =>
  `${name}${count === 1 ? '' : `-${number}-of-${count}`}`;

/**
 * What all shards say together, for the number of shards that is furthest: whichever number is in use, what another one has
 * written stays true. Undefined where no number of shards has said all.
 */
export async function readTogether<Said extends { position: Position }>(
  store: Pick<EventStore, 'read'>,
  { name, schema }: { name: string; schema: z.ZodType<Said> },
): Promise<{ position: Position; said: Said[] } | undefined> {
  const together = await readFurthestShards(store, {
    ...{ countMax: webhookShardsMax, schema },
    streamOf: (shard) => checkpointStreamOf(name, shard),
  });
  return together.said.length === 0 ? undefined : together;
}

/** What one shard may send at once: to a receiver, all of them together no more than one notifier would. */
export const limitsOf = ({ count }: Shard, { total, perTeam, perOrigin }: Limits): Limits => ({
  total,
  perTeam: Math.max(1, Math.floor(perTeam / count)),
  perOrigin: Math.max(1, Math.floor(perOrigin / count)),
});
