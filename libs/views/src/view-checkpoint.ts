/** The projector's checkpoints, and their streams. */
import {
  type EventStore,
  type Position,
  beginning,
  failedStreamSchema,
  positionSchema,
  readLast,
} from '@tollgate/event-store';
import { z } from 'zod';
import { firstViewVersion, viewStreamOf, type ViewVersion } from './view-streams.ts';

/** One of several parts that the streams are divided into by name, so that several instances can share the work. */
export interface Shard {
  /** From 1 to `count`. */
  number: number;
  /** 1 to {@link shardsMax}. */
  count: number;
}

export const shardsMax = 16;
export const onlyShard: Shard = { number: 1, count: 1 };

/** The shard of a stream: FNV-1a over its name, for ever the same. */
export function shardNumberOf(stream: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stream.length; index += 1)
    hash = Math.imul(hash ^ stream.charCodeAt(index), 0x01000193);
  return ((hash >>> 0) % count) + 1;
}

const viewsName = 'checkpoint-views';

export const checkpointPrefixOf = (viewVersion: ViewVersion): string => viewStreamOf(viewsName, viewVersion);

/** How far the views of a shard have come; only the last event is kept. */
export const checkpointStreamOf = (viewVersion: ViewVersion, { number, count }: Shard): string =>
  `${checkpointPrefixOf(viewVersion)}${count === 1 ? '' : `-${number}-of-${count}`}`;

/** That of the whole first version. */
export const checkpointStream = checkpointStreamOf(firstViewVersion, onlyShard);

/**
 * Written after the views: every event of the shard at or before `position` is in its view, except those of the
 * failed streams. That stays true: views never go back.
 */
export const viewCheckpointSchema = z.object({
  position: positionSchema,
  failedStreams: z.array(failedStreamSchema),
});
export type ViewCheckpoint = z.infer<typeof viewCheckpointSchema>;

/**
 * The checkpoints of all shards that would say together that everything has come somewhere, for the number of shards
 * that is furthest. It does not matter which number of shards is in use: the checkpoints of another number stay true.
 */
export function furthestShards<Said>(
  saidBy: (shard: Shard) => Said | undefined,
  positionOf: (said: Said) => Position,
): { position: Position; said: Said[] } {
  let furthest: { position: Position; said: Said[] } = { position: beginning, said: [] };
  for (let count = 1; count <= shardsMax; count += 1) {
    const said = saidByAll(count, saidBy);
    if (said === undefined) continue;
    const position = said.map(positionOf).reduce((least, each) => (each < least ? each : least));
    if (position > furthest.position) furthest = { position, said };
  }
  return furthest;
}

/**
 * {@link furthestShards} by what the store has: each shard says it in the last event of its checkpoint's stream.
 *
 * @param countMax the most shards that there may ever be
 */
export async function readFurthestShards<Said extends { position: Position }>(
  store: Pick<EventStore, 'read'>,
  { countMax, streamOf, schema }: ReadCheckpoints<Said>,
): Promise<{ position: Position; said: Said[] }> {
  const found = new Map<string, Said>();
  const readOf = async (shard: Shard) => {
    const stream = streamOf(shard);
    const checkpoint = schema.safeParse((await readLast(store, stream))?.data);
    if (checkpoint.success) found.set(stream, checkpoint.data);
    return checkpoint.success;
  };
  // Of a number of shards that was never in use not even the first has one.
  const readAll = async ([first, ...others]: readonly Shard[]) => {
    if (first !== undefined && (await readOf(first))) await Promise.all(others.map(readOf));
  };
  await Promise.all(Array.from({ length: countMax }, (_, index) => readAll(shardsOf(index + 1))));
  return furthestShards(
    (shard) => found.get(streamOf(shard)),
    ({ position }) => position,
  );
}

interface ReadCheckpoints<Said> {
  countMax: number;
  streamOf: (shard: Shard) => string;
  schema: z.ZodType<Said>;
}

/** Undefined where one of them has said nothing; the others are not asked then. */
function saidByAll<Said>(count: number, saidBy: (shard: Shard) => Said | undefined): Said[] | undefined {
  const said: Said[] = [];
  for (let number = 1; number <= count; number += 1) {
    const each = saidBy({ number, count });
    if (each === undefined) return undefined;
    said.push(each);
  }
  return said;
}

export const shardsOf = (count: number): Shard[] =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, count }));
