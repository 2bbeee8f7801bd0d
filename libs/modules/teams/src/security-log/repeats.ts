/**
 * Condenses repeats into few entries: the first is reported at once, later ones are counted and reported when their window
 * ends. After a used window the next is twice as long, up to an hour; an unused one is dropped. Sources that are too many to
 * distinguish are reported as one.
 */

import { hourMs, minuteMs } from '@tollgate/service-kit';

/** Count and period, milliseconds since the Unix epoch. */
export interface Count {
  count: number;
  from: number;
  until: number;
}

export interface RepeatsOptions<Item> {
  /** The key by which repeats are recognized. */
  keyOf(item: Item): string;
  /** Reported if the sources are too many. */
  asOneOfMany(item: Item): Item;
  /** Maximum entries per minute, in addition to the condensed one. */
  perMinuteMax?: number;
}

const firstWindowMs = minuteMs;
const lastWindowMs = hourMs;

interface Window<Item> extends Count {
  item: Item;
  endsAt: number;
  lengthMs: number;
}

export type Repeats<Item> = ReturnType<typeof createRepeats<Item>>;

export function createRepeats<Item>(options: RepeatsOptions<Item>) {
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
    /** True if it must be reported at once; otherwise it is counted. */
    isFirst(item: Item, now: number): boolean {
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
    /** The report failed: the next one is the first again. */
    forget: (item: Item): void => void windows.delete(keyOf(item)),
    /** The counts to report now. */
    due(now: number): { item: Item; count: Count }[] {
      const reported: { item: Item; count: Count }[] = [];
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
    /** All unreported counts, for the end. */
    rest(): { item: Item; count: Count }[] {
      const counted = [...windows.values()].filter(({ count }) => count > 0).map(take);
      windows.clear();
      return counted;
    },
  };
}
