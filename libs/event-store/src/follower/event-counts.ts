/**
 * Counts of applied events, by prefix of their streams. Followers of the same prefixes have the same counts at the same
 * position; a difference means a lost or an extra event.
 */
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { z } from 'zod';
import { type EventStore, type Position, type RecordedEvent, beginning } from '../event-store.ts';
import { positionSchema } from './checkpoint.ts';

/** By prefix. */
type Counts = Readonly<Record<string, number>>;

export const countedSchema = z.object({ position: positionSchema, counts: z.record(z.string(), z.int()) });
/** The counts of a follower up to a position. */
export type Counted = z.infer<typeof countedSchema>;

/** Events for which counts at an earlier position are known. */
const rememberedMax = 10_000;

export type EventCounts = ReturnType<typeof createEventCounts>;

export function createEventCounts(
  prefixes: readonly string[],
  { position, counts }: Counted = { position: beginning, counts: {} },
) {
  const current = Object.fromEntries(prefixes.map((prefix) => [prefix, counts[prefix] ?? 0]));
  /** The last events, in the order of the store. */
  let recent: { prefix: string; position: Position }[] = [];
  /** All later events are in `recent`. */
  let knownFrom = position;
  return {
    add: (event: Pick<RecordedEvent, 'stream' | 'position'>): void => {
      const prefix = prefixes.find((each) => event.stream.startsWith(each));
      if (prefix === undefined) return;
      current[prefix] = (current[prefix] ?? 0) + 1;
      recent.push({ prefix, position: event.position });
      if (recent.length < 2 * rememberedMax) return;
      knownFrom = recent[rememberedMax - 1]?.position ?? knownFrom;
      recent = recent.slice(rememberedMax);
    },
    current: (): Counts => ({ ...current }),
    /** Undefined for a position that is too long ago. */
    at: (wanted: Position): Counts | undefined => {
      if (wanted < knownFrom) return undefined;
      const found = { ...current };
      for (let index = recent.length - 1; index >= 0; index -= 1) {
        const event = recent[index];
        if (event === undefined || event.position <= wanted) break;
        found[event.prefix] = (found[event.prefix] ?? 0) - 1;
      }
      return found;
    },
  };
}

/** The shared prefixes whose counts differ at the position of `theirs`; undefined if ours are not known for it. */
export function differingPrefixes(own: EventCounts, theirs: Counted): string[] | undefined {
  const counts = own.at(theirs.position);
  return (
    counts &&
    Object.keys(counts).filter(
      (prefix) => theirs.counts[prefix] !== undefined && theirs.counts[prefix] !== counts[prefix],
    )
  );
}

/** A follower that differs after a rebuild from zero reports it here: the one that wrote the checkpoint then restarts. */
export const differingCountsStream = 'differing-counts';

/** Minimum interval between restarts requested of another follower. */
const reportEveryMs = 3_600_000;

interface ComparisonOptions {
  name: string;
  store: Pick<EventStore, 'append'>;
  clock: Pick<Clock, 'monotonic'>;
  ids: Pick<Ids, 'uuid'>;
  log: Pick<Log, 'error'>;
  /** The checkpoint stream of the other follower. */
  comparedWith?: string;
}

/** `rebuild`: ours may be wrong. `differs`: ours were counted from zero, so the other follower is wrong. */
export type CountComparison = (
  own: EventCounts,
  checkpoint: RecordedEvent | undefined,
) => Promise<'same' | 'rebuild' | 'differs'>;

/** Compares our counts with those of another follower's checkpoint, at its position. */
export function createCountComparison(options: ComparisonOptions): CountComparison {
  const { name, store, clock, ids, log, comparedWith = '' } = options;
  /** A difference was found, and the file has been rebuilt since. */
  let isRebuilt = false;
  let reportedAt = -Infinity;
  return async (counts, checkpoint) => {
    const theirs = countedSchema.safeParse(checkpoint?.data).data;
    const differing = theirs && differingPrefixes(counts, theirs);
    if (theirs === undefined || differing === undefined) return 'same';
    const isFirst = !isRebuilt;
    isRebuilt = differing.length > 0;
    if (differing.length === 0) return 'same';
    if (!isFirst && clock.monotonic() - reportedAt < reportEveryMs) return 'differs';
    const { position } = theirs;
    const own = counts.at(position);
    const then = isFirst ? 'The file is rebuilt.' : 'The other follower starts again.';
    log.error(
      { operation: name, position, stream: comparedWith },
      `Followers have applied different numbers of events: ${JSON.stringify(own)} here, ${JSON.stringify(theirs.counts)} by the checkpoint. ${then}`,
    );
    if (isFirst) return 'rebuild';
    reportedAt = clock.monotonic();
    const data = { follower: name, position, counts: own };
    const event = { id: ids.uuid(), type: 'CountsDiffered', data, metadata: {} };
    // A repeat is harmless: readers compare.
    await store.append(differingCountsStream, [event], 'any', { keepLast: 1 });
    return 'differs';
  };
}
