/** Work that several instances share: streams are divided into shards by their names. */
import { type EventStore, type Position, beginning, readLast } from '@tollgate/event-store';
import type { z } from 'zod';

/** One of several parts that the streams are divided into by name, so that several instances can share the work. */
export interface Shard {
  /** From 1 to `count`. */
  number: number;
  count: number;
}

export const onlyShard: Shard = { number: 1, count: 1 };

/** The shard of a stream: FNV-1a over its name, for ever the same. */
export function shardNumberOf(stream: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stream.length; index += 1)
    hash = Math.imul(hash ^ stream.charCodeAt(index), 0x01000193);
  return ((hash >>> 0) % count) + 1;
}

interface ReadCheckpoints<Said> {
  /** The most shards that there may ever be. */
  countMax: number;
  streamOf: (shard: Shard) => string;
  schema: z.ZodType<Said>;
}

/**
 * The checkpoints of all shards, for the number of shards that is furthest together. It does not matter which number is in
 * use: the checkpoints of another number stay true.
 */
export async function readFurthestShards<Said extends { position: Position }>(
  store: Pick<EventStore, 'read'>,
  { countMax, streamOf, schema }: ReadCheckpoints<Said>,
): Promise<{ position: Position; said: Said[] }> {
  let furthest: { position: Position; said: Said[] } = { position: beginning, said: [] };
  for (let count = 1; count <= countMax; count += 1) {
    const said: Said[] = [];
    for (const shard of shardsOf(count)) {
      const checkpoint = schema.safeParse((await readLast(store, streamOf(shard)))?.data);
      if (!checkpoint.success) break;
      said.push(checkpoint.data);
    }
    if (said.length < count) continue;
    const position = said.map((each) => each.position).reduce((least, each) => (each < least ? each : least));
    if (position > furthest.position) furthest = { position, said };
  }
  return furthest;
}

export const shardsOf = (count: number): Shard[] =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, count }));
