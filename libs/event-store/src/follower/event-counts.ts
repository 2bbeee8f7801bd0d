/**
 * Counts of applied events, by prefix of their streams. Followers of the same prefixes have the same counts at the same
 * position; a difference
 * means a lost or an extra event.
 */
import { z } from 'zod';
import { type Position, type RecordedEvent, beginning } from '../event-store.ts';
import { positionSchema } from './checkpoint.ts';

/** By prefix. */
type Counts = Readonly<Record<string, number>>;

export const countedSchema = z.object({ position: positionSchema, counts: z.record(z.string(), z.int()) });
/** The counts of a follower up to a position. */
export type Counted = z.infer<typeof countedSchema>;

/** Events for which counts at an earlier position are known. */
const rememberedMax = 10_000;

export interface EventCounts {
  add(event: Pick<RecordedEvent, 'stream' | 'position'>): void;
  current(): Counts;
  /** Undefined for a position that is too long ago. */
  at(position: Position): Counts | undefined;
}

export function createEventCounts(
  prefixes: readonly string[],
  { position, counts }: Counted = { position: beginning, counts: {} },
): EventCounts {
  const current = Object.fromEntries(prefixes.map((prefix) => [prefix, counts[prefix] ?? 0]));
  /** The last events, in the order of the store. */
  let recent: { prefix: string; position: Position }[] = [];
  /** All later events are in `recent`. */
  let knownFrom = position;
  return {
    add: (event) => {
      const prefix = prefixes.find((each) => event.stream.startsWith(each));
      if (prefix === undefined) return;
      current[prefix] = (current[prefix] ?? 0) + 1;
      recent.push({ prefix, position: event.position });
      if (recent.length < 2 * rememberedMax) return;
      knownFrom = recent[rememberedMax - 1]?.position ?? knownFrom;
      recent = recent.slice(rememberedMax);
    },
    current: () => ({ ...current }),
    at: (wanted) => {
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
