/**
 * Many of the same are few entries: the first is reported at once, those that follow are counted and reported when their
 * window ends. A window that was used is followed by one of twice the length, up to an hour; an unused one is forgotten.
 * Sources that are too many to distinguish are reported as one.
 */

import { hourMs, minuteMs } from '@tollgate/service-kit';

/** How often something came, and from when to when, milliseconds since the Unix epoch. */
export interface Count {
  count: number;
  from: number;
  until: number;
}

export interface RepeatsOptions<Item> {
  /** What is the same. */
  keyOf(item: Item): string;
  /** What is reported if the sources are too many. */
  asOneOfMany(item: Item): Item;
  /** Entries in a minute at most, next to those of the many. */
  perMinuteMax?: number;
}

const firstWindowMs = minuteMs;
const lastWindowMs = hourMs;

interface Window<Item> extends Count {
  item: Item;
  endsAt: number;
  lengthMs: number;
}

export interface Repeats<Item> {
  /** True if it is to be reported at once; otherwise it is counted. */
  isFirst(item: Item, now: number): boolean;
  /** It could not be reported: the next one is the first again. */
  forget(item: Item): void;
  /** What is to be reported now of what was counted. */
  due(now: number): readonly { item: Item; count: Count }[];
  /** All that was counted and not reported, for the end. */
  rest(): readonly { item: Item; count: Count }[];
}

export function createRepeats<Item>(options: RepeatsOptions<Item>): Repeats<Item> {
  const { keyOf, asOneOfMany, perMinuteMax = 20 } = options;
  const windows = new Map<string, Window<Item>>();
  let minute = { startedAt: -Infinity, reported: 0 };

  function mayReport(now: number): boolean {
    if (now >= minute.startedAt + firstWindowMs || now < minute.startedAt)
      minute = { startedAt: now, reported: 0 };
    if (minute.reported >= perMinuteMax) return false;
    minute.reported += 1;
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
      else if (mayReport(now)) {
        open(key, item, now, firstWindowMs);
        return true;
      } else addToMany(item, once, now);
      return false;
    },
    forget: (item) => void windows.delete(keyOf(item)),
    due(now) {
      const reported = [];
      for (const [key, window] of [...windows]) {
        if (now < window.endsAt && now >= window.from - lastWindowMs) continue;
        windows.delete(key);
        if (window.count === 0) continue;
        if (key.startsWith('many ') || mayReport(now)) reported.push(take(window));
        else addToMany(window.item, window, now);
        open(key, window.item, now, Math.min(2 * window.lengthMs, lastWindowMs));
      }
      return reported;
    },
    rest() {
      const counted = [...windows.values()].filter(({ count }) => count > 0).map(take);
      windows.clear();
      return counted;
    },
  };
}
