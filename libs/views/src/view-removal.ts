/** Which views are removed from the store, and what of that is done. */
import { beginning, positionSchema, readLast, type EventStore } from '@tollgate/event-store';
import { z } from 'zod';
import type { ViewVersion } from './view-streams.ts';
import { readViewVersion, unreadIn } from './view-version.ts';

/** What was removed, and how far the removal of others is; only the last event is kept. */
export const viewRemovalStream = 'view-removal';

export const viewRemovalSchema = z.object({
  /** View versions that are gone. */
  removed: z.array(z.int().min(1)),
  /** View versions whose streams are gone up to `position` of the log. */
  removing: z.array(z.int().min(1)),
  position: positionSchema,
});
export type ViewRemoval = z.infer<typeof viewRemovalSchema>;

export const nothingRemoved: ViewRemoval = { removed: [], removing: [], position: beginning };

/** View versions that nobody reads, and whose views are still there. @throws StoreUnavailable */
export async function viewVersionsToRemove(store: Pick<EventStore, 'read'>): Promise<ViewVersion[]> {
  const { record } = await readViewVersion(store);
  const known = viewRemovalSchema.safeParse((await readLast(store, viewRemovalStream))?.data);
  const { removed } = known.success ? known.data : nothingRemoved;
  return unreadIn(record).filter((number) => !removed.includes(number));
}
