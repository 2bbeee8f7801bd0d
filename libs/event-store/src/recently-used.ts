import { LRUCache } from 'lru-cache';

/** Values by name; the one that was used longest ago is forgotten first. */
export type RecentlyUsed<Value extends object> = LRUCache<string, Value>;

/** At most `max` of them. */
export const createRecentlyUsed = <Value extends object>(max: number): RecentlyUsed<Value> =>
  new LRUCache({ max });
