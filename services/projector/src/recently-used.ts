/** Remembers the values that were used last: up to `max`, and no fewer than half of them. */
export interface RecentlyUsed<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  clear(): void;
}

/**
 * In two halves. When the young one is full it becomes the old one, and the old one is let go whole: so nothing is paid for
 * the order of use. Taking the first key out of one Map again and again passes over all that was taken before.
 */
export function createRecentlyUsed<Value>(max: number): RecentlyUsed<Value> {
  const halfMax = Math.ceil(max / 2);
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  const set = (key: string, value: Value) => {
    young.set(key, value);
    if (young.size < halfMax) return;
    old = young;
    young = new Map();
  };
  return {
    get: (key) => {
      const used = young.get(key);
      if (used !== undefined) return used;
      const value = old.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    clear: () => {
      young = new Map();
      old = new Map();
    },
  };
}
