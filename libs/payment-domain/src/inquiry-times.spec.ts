import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { InquiryNeed } from './failed-inquiry.ts';
import {
  firstInquiryAt,
  inquiryBoundsAt,
  inquiryDelays,
  inquiryShardOf,
  inquiryShards,
  nextInquiryAt,
  repeatedInquiryAt,
  spreadDue,
  spreadFrom,
} from './inquiry-times.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const item = { token: 'pay_1', inquiryNeed: 'open', updatedAt: 0 } as const;

/** The next `count` instants for an item whose last change was at 0, without the lateness of its token. */
function distancesOf(inquiryNeed: 'unresolved' | 'open' | 'settled', count: number): (number | undefined)[] {
  const stretch = nextInquiryAt(item, 0)! / inquiryDelays.open[0]!;
  const distances: (number | undefined)[] = [];
  for (let after: number | undefined = 0; distances.length < count;) {
    after = after === undefined ? undefined : nextInquiryAt({ ...item, inquiryNeed }, after);
    distances.push(after === undefined ? undefined : Math.round(after / stretch));
  }
  return distances;
}

it('inquires what is unresolved soon, then ever more seldom, and never stops', () => {
  const daily = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((count) => count * day);
  expect(distancesOf('unresolved', 18)).toEqual([...inquiryDelays.unresolved.slice(0, 9), ...daily]);
});

it('inquires what is open as if no callback ever came', () => {
  expect(distancesOf('open', 6)).toEqual([2 * minute, 10 * minute, hour, 6 * hour, 30 * hour, 54 * hour]);
});

// A payment that had expired was revised to approved while its callback was lost, and nobody ever learnt it.
it('inquires what is settled after an hour, a day, a week and a month, and no more', () => {
  expect(distancesOf('settled', 5)).toEqual([hour, day, 7 * day, 30 * day, undefined]);
});

it('makes tokens later by up to a tenth, each always by the same', () => {
  const tokens = Array.from({ length: 1_000 }, (_, index) => `pay_${index}`);
  const first = tokens.map((token) => nextInquiryAt({ ...item, token }, 0)!);
  expect(Math.min(...first)).toBeGreaterThanOrEqual(2 * minute);
  expect(Math.max(...first)).toBeLessThan(2.2 * minute);
  expect(new Set(first.map((at) => Math.floor((at - 2 * minute) / 1_200))).size).toBe(10);
  expect(tokens.map((token) => nextInquiryAt({ ...item, token }, 0))).toEqual(first);
});

it('shares tokens out evenly over the shards, independently of how late they are', () => {
  const tokens = Array.from({ length: 8_000 }, (_, index) => `pay_${index}`);
  const byShard = Map.groupBy(tokens, inquiryShardOf);
  expect([...byShard.keys()].sort()).toEqual([...Array(inquiryShards).keys()]);
  for (const some of byShard.values()) {
    expect(some.length).toBeGreaterThan(800);
    const late = some.filter((token) => nextInquiryAt({ ...item, token }, 0)! > 2.1 * minute);
    expect(late.length / some.length).toBeGreaterThan(0.4);
  }
});

it('counts a change from when it is seen where the clock that recorded it ran ahead', () => {
  const ahead = { ...item, updatedAt: 365 * day };
  expect(firstInquiryAt(ahead, 0)).toBe(firstInquiryAt(item, 0));
});

// It was inquired once, and then not before the clock that had recorded it was right: a year later.
it('does not wait for a clock that ran ahead', () => {
  const ahead = { ...item, updatedAt: 365 * day };
  expect(nextInquiryAt({ ...ahead, inquiryNeed: 'unresolved' }, 0)).toBeLessThanOrEqual(1.1 * minute);
  expect(nextInquiryAt(ahead, 0)).toBeLessThanOrEqual(1.1 * hour);
  expect(nextInquiryAt({ ...ahead, inquiryNeed: 'settled' }, 0)).toBeLessThanOrEqual(7.7 * day);
});

it('spreads what becomes known long after it was due', () => {
  const now = 40 * day;
  expect(firstInquiryAt({ ...item, inquiryNeed: 'unresolved' }, now)).toBe(now);
  expect(firstInquiryAt(item, now)).toBe(spreadFrom(item, now));
  expect(spreadFrom(item, now)).toBeGreaterThan(now);
  expect(spreadFrom({ ...item, updatedAt: now - 5 * minute }, now)).toBeLessThan(now + 2 * minute);
});

// After an outage of eleven days what had been open before it, and was inquired daily by now, waited for up to six hours.
it('spreads what is open over an hour at most, however seldom it is inquired by now', () => {
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

it('does not start over, in a new index, with what was settled long ago', () => {
  const settled = { ...item, inquiryNeed: 'settled' } as const;
  expect(firstInquiryAt(settled, 2 * day)).toBe(nextInquiryAt(settled, 2 * day));
  expect(firstInquiryAt(settled, 40 * day)).toBeUndefined();
  expect(firstInquiryAt(settled, 0, { ...inquiryDelays, settled: [] })).toBeUndefined();
});

/** As much later as the token makes each distance. */
const stretch = nextInquiryAt(item, 0)! / (2 * minute);

it('waits the third distance after a clock that ran ahead, a day where there is none', () => {
  const ahead = { ...item, updatedAt: 365 * day };
  expect(nextInquiryAt(ahead, 5 * day)).toBeCloseTo(5 * day + hour * stretch);
  const delays = { ...inquiryDelays, open: [minute, 3 * minute] };
  expect(nextInquiryAt(ahead, 0, delays)).toBeCloseTo(3 * minute * stretch);
  expect(nextInquiryAt(ahead, 0, { ...delays, open: [] })).toBeCloseTo(day * stretch);
});

it('is due for the first time when its first distance is over, not before and not at once', () => {
  expect(firstInquiryAt(item, minute)).toBe(nextInquiryAt(item, 0));
  const settled = { ...item, inquiryNeed: 'settled' } as const;
  expect(firstInquiryAt(settled, minute)).toBe(nextInquiryAt(settled, 0));
  const atOnce = 2 * minute * stretch;
  expect(firstInquiryAt(item, atOnce)).toBe(spreadFrom(item, atOnce));
});

it('spreads an item whose last inquiry is over by an hour', () => {
  const now = 400 * day;
  const fraction = (stretch - 1) * 10;
  expect(spreadFrom({ ...item, inquiryNeed: 'settled' }, now)).toBeCloseTo(now + (fraction * hour) / 4);
  expect(spreadFrom(item, now)).toBeCloseTo(now + fraction * hour);
});

// Each of two processes has an index of its own: what one has inquired for the last time, the other still has as due.
it('leaves out what another process has inquired for the last time', () => {
  const settled = { ...item, inquiryNeed: 'settled' } as const;
  const [now, last] = [40 * day, 30 * day * stretch];
  expect(spreadDue({ ...settled, dueAt: hour }, now)).toBeUndefined();
  expect(spreadDue({ ...settled, dueAt: last }, now)).toBe(spreadFrom(settled, now));
  expect(spreadDue({ ...settled, dueAt: hour }, 2 * day)).toBe(spreadFrom(settled, 2 * day));
  expect(spreadDue({ ...item, dueAt: hour }, now)).toBe(spreadFrom(item, now));
});

it('knows what no right clock has put off as far', () => {
  const now = 50 * day;
  expect(inquiryBoundsAt(now)).toEqual({
    latestDueAt: { unresolved: 50 * day, open: 52 * day, settled: 52 * day + 33 * day },
    openWithin: [
      { changedAfter: now + minute, withinMs: 0 },
      { changedAfter: now - 2 * minute, withinMs: 2.2 * minute },
      { changedAfter: now - 10 * minute, withinMs: 11 * minute },
      { changedAfter: now - hour, withinMs: 66 * minute },
      { changedAfter: now - 6 * hour, withinMs: 6.6 * hour },
    ],
    settledSince: 20 * day,
  });
  // Until then the last inquiry is to come for every token.
  const settled = { ...item, inquiryNeed: 'settled', updatedAt: 20 * day + 1 } as const;
  for (const token of Array.from({ length: 100 }, (_, index) => `pay_${index}`))
    expect(nextInquiryAt({ ...settled, token }, now)).toBeGreaterThan(now);
  const never = inquiryBoundsAt(now, { ...inquiryDelays, settled: [] });
  expect([never.latestDueAt.settled, never.settledSince]).toEqual([52 * day, Infinity]);
});

/** When what is open and has changed then is due at the latest, as the index reads the bounds. */
function latestOpen(updatedAt: number, now: number): number {
  const { openWithin, latestDueAt } = inquiryBoundsAt(now);
  const step = openWithin.find(({ changedAfter }) => updatedAt > changedAfter);
  return step === undefined ? latestDueAt.open : updatedAt + step.withinMs;
}

it('recalls nothing that is open and that a right clock has put off, however it was put off', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: -minute, max: 3 * day }),
      fc.integer({ min: 0, max: 3 * day }),
      (token, age, ago) => {
        const now = 50 * day;
        const open = { token, inquiryNeed: 'open', updatedAt: now - age } as const;
        const thenAt = Math.max(now - ago, Math.min(open.updatedAt, now));
        const latest = latestOpen(open.updatedAt, now);
        expect(firstInquiryAt(open, thenAt)).toBeLessThanOrEqual(latest);
        if (thenAt < open.updatedAt) return;
        expect(spreadFrom(open, thenAt)).toBeLessThanOrEqual(latest);
        expect(nextInquiryAt(open, thenAt)).toBeLessThanOrEqual(latest);
      },
    ),
  );
});

// The clocks of all were four hours ahead and were set back together: what is open was inquired four hours late (seed 1595).
it('recalls what is open and was put off by a clock that ran four hours ahead', () => {
  const now = 50 * day;
  const ahead = now + 4 * hour;
  for (const token of Array.from({ length: 100 }, (_, index) => `pay_${index}`)) {
    const madeThen = { token, inquiryNeed: 'open', updatedAt: ahead - 2 * hour } as const;
    expect(firstInquiryAt(madeThen, madeThen.updatedAt)).toBeGreaterThan(latestOpen(madeThen.updatedAt, now));
    // Made before, and inquired for the last time by that clock.
    const before = { ...madeThen, updatedAt: now - 5 * minute };
    expect(nextInquiryAt(before, ahead)).toBeGreaterThan(latestOpen(before.updatedAt, now));
  }
});

it('repeats what has failed after 15 s, then doubling, at the latest when the next one is due', () => {
  const delaysOf = (inquiryNeed: InquiryNeed, updatedAt: number, failures: readonly number[]) =>
    failures.map((inRow) => {
      const at = repeatedInquiryAt({ token: 'pay_1', inquiryNeed, updatedAt }, { now: 100 * day, inRow });
      return at === undefined ? undefined : (at - 100 * day) / 1_000;
    });
  expect(delaysOf('unresolved', 70 * day, [1, 2, 3, 8, 9, 50])).toEqual([15, 30, 60, 1_920, 3_600, 3_600]);
  expect(delaysOf('open', 70 * day, [1, 50])).toEqual([15, 6 * 3_600]);
  expect(delaysOf('settled', 61 * day, [1, 50])).toEqual([15, 24 * 3_600]);
  // After 40 days nothing about it is inquired any more.
  expect(delaysOf('settled', 60 * day, [1])).toEqual([15]);
  expect(delaysOf('settled', 60 * day - 1, [1])).toEqual([undefined]);
  // The next one is due a minute, and up to a tenth, after the change.
  expect(delaysOf('unresolved', 100 * day - 30_000, [3])[0]).toBeLessThan(37);
});
