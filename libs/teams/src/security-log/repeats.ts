/**
 * Many of the same are few entries: the first is told at once, those that follow are counted and told when their window
 * ends. A window that was used is followed by one of twice the length, up to an hour; an unused one is forgotten. Sources
 * that are too many to be told apart are told as one.
 */

/** How often something came, and from when to when, milliseconds since the Unix epoch. */
export interface Count {
  count: number;
  from: number;
  until: number;
}

export interface RepeatsOptions<Item> {
  /** What is the same. */
  keyOf(item: Item): string;
  /** What is told of where the sources are too many. */
  asOneOfMany(item: Item): Item;
  /** Entries in a minute at most, beside those of the many. */
  perMinuteMax?: number;
}

const firstWindowMs = 60_000;
const lastWindowMs = 3_600_000;

interface Window<Item> extends Count {
  item: Item;
  endsAt: number;
  lengthMs: number;
}

export interface Repeats<Item> {
  /** True where it is to be told at once; otherwise it is counted. */
  isFirst(item: Item, now: number): boolean;
  /** It could not be told: the next one is the first again. */
  forget(item: Item): void;
  /** What is to be told now of what was counted. */
  due(now: number): readonly { item: Item; count: Count }[];
  /** All that was counted and not told, for the end. */
  rest(): readonly { item: Item; count: Count }[];
}

export function createRepeats<Item>(options: RepeatsOptions<Item>): Repeats<Item> {
  const { keyOf, asOneOfMany, perMinuteMax = 20 } = options;
  const windows = new Map<string, Window<Item>>();
  let minute = { startedAt: -Infinity, told: 0 };

  function mayTell(now: number): boolean {
    if (now >= minute.startedAt + firstWindowMs || now < minute.startedAt)
      minute = { startedAt: now, told: 0 };
    if (minute.told >= perMinuteMax) return false;
    minute.told += 1;
    return true;
  }

  function open(key: string, item: Item, now: number, lengthMs: number): Window<Item> {
    const opened = { item, count: 0, from: now, until: now, endsAt: now + lengthMs, lengthMs };
    windows.set(key, opened);
    return opened;
  }

  function add(window: Window<Item>, { count, from, until }: Count): void {
    if (window.count === 0) window.from = from;
    window.count += count;
    window.until = Math.max(window.until, until);
  }

  function addToMany(item: Item, count: Count, now: number): void {
    const one = asOneOfMany(item);
    const key = `many ${keyOf(one)}`;
    add(windows.get(key) ?? open(key, one, now, firstWindowMs), count);
  }

  const take = ({ item, count, from, until }: Window<Item>) => ({ item, count: { count, from, until } });

  return {
    isFirst(item, now) {
      const key = keyOf(item);
      const known = windows.get(key);
      const once = { count: 1, from: now, until: now };
      if (known !== undefined) add(known, once);
      else if (mayTell(now)) {
        open(key, item, now, firstWindowMs);
        return true;
      } else addToMany(item, once, now);
      return false;
    },
    forget: (item) => void windows.delete(keyOf(item)),
    due(now) {
      const told = [];
      for (const [key, window] of [...windows]) {
        if (now < window.endsAt && now >= window.from - lastWindowMs) continue;
        windows.delete(key);
        if (window.count === 0) continue;
        if (key.startsWith('many ') || mayTell(now)) told.push(take(window));
        else addToMany(window.item, window, now);
        open(key, window.item, now, Math.min(2 * window.lengthMs, lastWindowMs));
      }
      return told;
    },
    rest() {
      const counted = [...windows.values()].filter(({ count }) => count > 0).map(take);
      windows.clear();
      return counted;
    },
  };
}
