import { expect, it } from 'vitest';
import type { InquiryNeed } from './failed-inquiry.ts';
import {
  firstInquiryAt,
  inquiryDelays,
  inquiryShardOf,
  inquiryShards,
  nextInquiryAt,
  repeatedInquiryAt,
  spreadDue,
  spreadFrom,
} from './next-inquiry-due.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const item = { token: 'pay_1', inquiryNeed: 'open', updatedAt: 0 } as const;

/** The next `count` times for an item whose last change was at 0, without the delay of its token. */
function distancesOf(inquiryNeed: 'unresolved' | 'open' | 'settled', count: number): (number | undefined)[] {
  const stretch = nextInquiryAt(item, 0)! / inquiryDelays.open[0]!;
  const distances: (number | undefined)[] = [];
  for (let after: number | undefined = 0; distances.length < count;) {
    after = after === undefined ? undefined : nextInquiryAt({ ...item, inquiryNeed }, after);
    distances.push(after === undefined ? undefined : Math.round(after / stretch));
  }
  return distances;
}

it('inquires an unresolved item soon, then less and less often, and never stops', () => {
  const daily = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((count) => count * day);
  expect(distancesOf('unresolved', 18)).toEqual([...inquiryDelays.unresolved.slice(0, 9), ...daily]);
});

it('inquires an open item whether or not callbacks arrive', () => {
  expect(distancesOf('open', 6)).toEqual([2 * minute, 10 * minute, hour, 6 * hour, 30 * hour, 54 * hour]);
});

// An expired payment was revised to approved, its callback was lost, and the change was never noticed.
it('inquires a settled item after an hour, a day, a week and a month, then stops', () => {
  expect(distancesOf('settled', 5)).toEqual([hour, day, 7 * day, 30 * day, undefined]);
});

it('delays each token by up to a tenth, always by the same amount', () => {
  const tokens = Array.from({ length: 1_000 }, (_, index) => `pay_${index}`);
  const first = tokens.map((token) => nextInquiryAt({ ...item, token }, 0)!);
  expect(Math.min(...first)).toBeGreaterThanOrEqual(2 * minute);
  expect(Math.max(...first)).toBeLessThan(2.2 * minute);
  expect(new Set(first.map((at) => Math.floor((at - 2 * minute) / 1_200))).size).toBe(10);
  expect(tokens.map((token) => nextInquiryAt({ ...item, token }, 0))).toEqual(first);
});

it('distributes tokens evenly over the shards, independently of their delay', () => {
  const tokens = Array.from({ length: 8_000 }, (_, index) => `pay_${index}`);
  const byShard = Map.groupBy(tokens, inquiryShardOf);
  expect([...byShard.keys()].sort()).toEqual([...Array(inquiryShards).keys()]);
  for (const some of byShard.values()) {
    expect(some.length).toBeGreaterThan(800);
    const late = some.filter((token) => nextInquiryAt({ ...item, token }, 0)! > 2.1 * minute);
    expect(late.length / some.length).toBeGreaterThan(0.4);
  }
});

it('counts a change from its first sight if the recording clock ran ahead', () => {
  const ahead = { ...item, updatedAt: 365 * day };
  expect(firstInquiryAt(ahead, 0)).toBe(firstInquiryAt(item, 0));
});

// It was inquired once, and then not before the wall clock reached the recorded time: a year later.
it('does not wait for a clock that ran ahead', () => {
  const ahead = { ...item, updatedAt: 365 * day };
  expect(nextInquiryAt({ ...ahead, inquiryNeed: 'unresolved' }, 0)).toBeLessThanOrEqual(1.1 * minute);
  expect(nextInquiryAt(ahead, 0)).toBeLessThanOrEqual(1.1 * hour);
  expect(nextInquiryAt({ ...ahead, inquiryNeed: 'settled' }, 0)).toBeLessThanOrEqual(7.7 * day);
});

it('spreads items that were due long before they became known', () => {
  const now = 40 * day;
  expect(firstInquiryAt({ ...item, inquiryNeed: 'unresolved' }, now)).toBe(now);
  expect(firstInquiryAt(item, now)).toBe(spreadFrom(item, now));
  expect(spreadFrom(item, now)).toBeGreaterThan(now);
  expect(spreadFrom({ ...item, updatedAt: now - 5 * minute }, now)).toBeLessThan(now + 2 * minute);
});

// After an outage of eleven days, open items from before it, by then inquired daily, waited for up to six hours.
it('spreads open items over an hour at most, however rarely they are inquired', () => {
  const now = 11 * day;
  const waits = Array.from(
    { length: 1_000 },
    (_, index) => spreadFrom({ ...item, token: `pay_${index}` }, now) - now,
  );
  expect(Math.max(...waits)).toBeLessThanOrEqual(hour);
  expect(Math.min(...waits)).toBeLessThan(minute);
  expect(waits.filter((wait) => wait < hour / 2).length).toBeGreaterThan(450);
  expect(waits.filter((wait) => wait < hour / 2).length).toBeLessThan(550);
});

it('does not start over, in a new index, for items settled long ago', () => {
  const settled = { ...item, inquiryNeed: 'settled' } as const;
  expect(firstInquiryAt(settled, 2 * day)).toBe(nextInquiryAt(settled, 2 * day));
  expect(firstInquiryAt(settled, 40 * day)).toBeUndefined();
  expect(firstInquiryAt(settled, 0, { ...inquiryDelays, settled: [] })).toBeUndefined();
});

/** The delay of the token, as a factor. */
const stretch = nextInquiryAt(item, 0)! / (2 * minute);

it('waits the third distance, or a day, after a clock that ran ahead', () => {
  const ahead = { ...item, updatedAt: 365 * day };
  expect(nextInquiryAt(ahead, 5 * day)).toBeCloseTo(5 * day + hour * stretch);
  const delays = { ...inquiryDelays, open: [minute, 3 * minute] };
  expect(nextInquiryAt(ahead, 0, delays)).toBeCloseTo(3 * minute * stretch);
  expect(nextInquiryAt(ahead, 0, { ...delays, open: [] })).toBeCloseTo(day * stretch);
});

it('is due for the first time after its first distance', () => {
  expect(firstInquiryAt(item, minute)).toBe(nextInquiryAt(item, 0));
  const settled = { ...item, inquiryNeed: 'settled' } as const;
  expect(firstInquiryAt(settled, minute)).toBe(nextInquiryAt(settled, 0));
  const atOnce = 2 * minute * stretch;
  expect(firstInquiryAt(item, atOnce)).toBe(spreadFrom(item, atOnce));
});

it('spreads an item by an hour once its last inquiry is past', () => {
  const now = 400 * day;
  const fraction = (stretch - 1) * 10;
  expect(spreadFrom({ ...item, inquiryNeed: 'settled' }, now)).toBeCloseTo(now + (fraction * hour) / 4);
  expect(spreadFrom(item, now)).toBeCloseTo(now + fraction * hour);
});

// Two processes have an index each: one has made the last inquiry, and the other still has it as due.
it('omits items whose last inquiry another process has made', () => {
  const settled = { ...item, inquiryNeed: 'settled' } as const;
  const [now, last] = [40 * day, 30 * day * stretch];
  expect(spreadDue({ ...settled, dueAt: hour }, now)).toBeUndefined();
  expect(spreadDue({ ...settled, dueAt: last }, now)).toBe(spreadFrom(settled, now));
  expect(spreadDue({ ...settled, dueAt: hour }, 2 * day)).toBe(spreadFrom(settled, 2 * day));
  expect(spreadDue({ ...item, dueAt: hour }, now)).toBe(spreadFrom(item, now));
});

it('retries failures after 15 s, then doubles, up to the next due time', () => {
  const delaysOf = (inquiryNeed: InquiryNeed, updatedAt: number, failures: readonly number[]) =>
    failures.map((inRow) => {
      const at = repeatedInquiryAt({ token: 'pay_1', inquiryNeed, updatedAt }, { now: 100 * day, inRow });
      return at === undefined ? undefined : (at - 100 * day) / 1_000;
    });
  expect(delaysOf('unresolved', 70 * day, [1, 2, 3, 8, 9, 50])).toEqual([15, 30, 60, 1_920, 3_600, 3_600]);
  expect(delaysOf('open', 70 * day, [1, 50])).toEqual([15, 6 * 3_600]);
  expect(delaysOf('settled', 61 * day, [1, 50])).toEqual([15, 24 * 3_600]);
  // After 40 days, its inquiries stop.
  expect(delaysOf('settled', 60 * day, [1])).toEqual([15]);
  expect(delaysOf('settled', 60 * day - 1, [1])).toEqual([undefined]);
  // The next one is due a minute, plus up to a tenth, after the change.
  expect(delaysOf('unresolved', 100 * day - 30_000, [3])[0]).toBeLessThan(37);
});
