/** Remembers up to `max` values; the one that was not used for longest goes first. */
export interface RecentlyUsed<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  clear(): void;
}

export function createRecentlyUsed<Value>(max: number): RecentlyUsed<Value> {
  // A Map keeps the order in which keys were set.
  const values = new Map<string, Value>();
  const set = (key: string, value: Value) => {
    values.delete(key);
    values.set(key, value);
    if (values.size <= max) return;
    const [oldest] = values.keys();
    if (oldest !== undefined) values.delete(oldest);
  };
  return {
    get: (key) => {
      const value = values.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    clear: () => values.clear(),
  };
}
