/** What the projector's checkpoints say, and where they stand. */
import { beginning, type Position } from '@tollgate/event-store';
import { z } from 'zod';
import { positionSchema } from './view-kind.ts';
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

/** Holds how far the documents of a shard have come; the last event is kept. */
export const checkpointStreamOf = (viewVersion: ViewVersion, { number, count }: Shard): string =>
  `${checkpointPrefixOf(viewVersion)}${count === 1 ? '' : `-${number}-of-${count}`}`;

/** That of the whole first generation. */
export const checkpointStream = checkpointStreamOf(firstViewVersion, onlyShard);

/** As {@link checkpointStreamOf}, of the totals. */
export const totalsCheckpointStreamOf = (viewVersion: ViewVersion): string =>
  viewStreamOf('checkpoint-totals', viewVersion);

export const checkpointEventType = 'ViewCheckpointWritten';

/** A stream whose events the projector could not apply; its document stands still before `revision`. */
export const failedStreamSchema = z.object({
  stream: z.string(),
  revision: z.int().min(0),
  code: z.string(),
});
export type FailedStream = z.infer<typeof failedStreamSchema>;

/**
 * Written after the documents: every event of the shard at or before `position` is in its document, except those of the
 * failed streams. That holds for documents of these versions only, and for ever: documents never go back.
 */
export const checkpointSchema = z.object({
  schemaVersion: z.literal(1),
  /** As {@link viewSchemaVersions} of whoever wrote it. */
  viewSchemaVersions: z.string(),
  position: positionSchema,
  failedStreams: z.array(failedStreamSchema),
  /**
   * The documents are added up from the beginning, and that has not come to an end yet: a document of one stream is right
   * as of an earlier time then, and a sum is wrong.
   */
  isPartial: z.literal(true).exactOptional(),
});
export type ViewCheckpoint = z.infer<typeof checkpointSchema>;

/**
 * The checkpoints of all shards that would say together that everything has come somewhere, for the number of shards
 * that says the most. Which number is in use now does not matter: what was said under another one still holds.
 */
export function furthestShards<Said>(
  saidBy: (shard: Shard) => Said | undefined,
  positionOf: (said: Said) => Position,
): { position: Position; said: Said[] } {
  let furthest: { position: Position; said: Said[] } = { position: beginning, said: [] };
  for (let count = 1; count <= shardsMax; count += 1) {
    const said = shardsOf(count).map(saidBy);
    if (!said.every((each): each is Said & {} => each !== undefined)) continue;
    const position = said.map(positionOf).reduce((least, each) => (each < least ? each : least));
    if (position > furthest.position) furthest = { position, said };
  }
  return furthest;
}

export const shardsOf = (count: number): Shard[] =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, count }));
