/** Whose a stream is: its first event says so, and of a dispute perhaps a later one. */
import { type EventStore, type RecordedEvent, createRecentlyUsed } from '@tollgate/event-store';
import { z } from 'zod';
import type { FeedOwner } from './event-feed.ts';

const rememberedMax = 20_000;

const firstSchema = z.object({ environment: z.string(), team: z.string().optional() });
const matchedSchema = z.object({ team: z.string() });

export interface OwnersOfStreams {
  /** Undefined while nobody knows: of a dispute before its payment is found. @throws StoreUnavailable */
  of(event: RecordedEvent): Promise<FeedOwner | undefined>;
}

export interface KnownOwner {
  environment: string;
  /** Undefined for a dispute whose payment is not found yet. */
  team?: string | undefined;
}

export function createOwnersOfStreams(store: Pick<EventStore, 'read'>): OwnersOfStreams {
  const known = createRecentlyUsed<KnownOwner>(rememberedMax);

  /** By all events up to this one. */
  async function readUpTo({ stream, revision }: RecordedEvent): Promise<KnownOwner | undefined> {
    let found: KnownOwner | undefined;
    for await (const event of store.read(stream, { limit: revision })) {
      found = ownerAfter(found, event);
      // Only of what is nobody's yet may a later event say more.
      if (found?.team !== undefined) break;
    }
    return found;
  }

  return {
    async of(event) {
      const { stream, revision } = event;
      const before = revision === 0 ? undefined : (known.get(stream) ?? (await readUpTo(event)));
      const owner = ownerAfter(before, event);
      if (owner === undefined) return undefined;
      known.set(stream, owner);
      const { environment, team } = owner;
      return team === undefined ? undefined : { environment, team };
    },
  };
}

/** The owner after one more event of the stream. */
export function ownerAfter(
  before: KnownOwner | undefined,
  { data }: Pick<RecordedEvent, 'data'>,
): KnownOwner | undefined {
  if (before === undefined) return firstSchema.safeParse(data).data;
  if (before.team !== undefined) return before;
  return { ...before, ...matchedSchema.safeParse(data).data };
}
