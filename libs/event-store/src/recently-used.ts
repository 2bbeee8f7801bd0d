import { LRUCache } from 'lru-cache';

/** Values by name; the one that was used longest ago is forgotten first. */
export type RecentlyUsed<Value extends object> = LRUCache<string, Value>;

/** At most `max` of them. Each counts as one of a total size: under `max` alone the places of all are taken up at once. */
export const createRecentlyUsed = <Value extends object>(max: number): RecentlyUsed<Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
