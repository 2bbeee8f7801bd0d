import { assert, array, integer, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRepeats } from './repeats.ts';

const minute = 60_000;
const create = (perMinuteMax = 3) =>
  createRepeats<string>({ keyOf: (item) => item, asOneOfMany: () => 'several', perMinuteMax });

describe('repeats', () => {
  test('are reported at once, and then as a count when their window ends', () => {
    const repeats = create();
    expect(repeats.isFirst('a', 0)).toBe(true);
    for (const at of [10, 20, 30]) expect(repeats.isFirst('a', at)).toBe(false);
    expect(repeats.due(minute - 1)).toEqual([]);
    expect(repeats.due(minute)).toEqual([{ item: 'a', count: { count: 3, from: 10, until: 30 } }]);
  });

  test('are reported in windows that grow up to an hour, and at once again after a quiet one', () => {
    const repeats = create();
    repeats.isFirst('a', 0);
    const reportedAt: number[] = [];
    let now = 0;
    for (; now < 6 * 60 * minute; now += minute / 2) {
      expect(repeats.isFirst('a', now)).toBe(false);
      if (repeats.due(now).length > 0) reportedAt.push(now / minute);
    }
    expect(reportedAt.slice(0, 5)).toEqual([1, 3, 7, 15, 31]);
    expect(reportedAt.length).toBeLessThan(14);
    expect(repeats.due(now + 60 * minute)).toHaveLength(1);
    expect(repeats.due(now + 180 * minute)).toEqual([]);
    expect(repeats.isFirst('a', now + 180 * minute)).toBe(true);
  });

  test('whose report failed are reported again', () => {
    const repeats = create();
    repeats.isFirst('a', 0);
    repeats.forget('a');
    expect(repeats.isFirst('a', 1)).toBe(true);
  });
});

describe('too many sources', () => {
  test('are reported as one', () => {
    const repeats = create(3);
    const first = ['a', 'b', 'c', 'd', 'e'].map((item) => repeats.isFirst(item, 0));
    expect(first).toEqual([true, true, true, false, false]);
    expect(repeats.due(minute)).toEqual([{ item: 'several', count: { count: 2, from: 0, until: 0 } }]);
  });

  test('never make more than a maximum number of entries in a minute, and lose none', () => {
    assert(
      property(
        array(record({ source: integer({ min: 0, max: 400 }), after: integer({ min: 0, max: 5_000 }) }), {
          maxLength: 300,
        }),
        (requests) => {
          const repeats = create(3);
          let now = 0;
          let reported = 0;
          const perMinute = new Map<number, number>();
          const report = (count: number) => {
            reported += count;
            const at = Math.floor(now / minute);
            perMinute.set(at, (perMinute.get(at) ?? 0) + 1);
          };
          for (const { source, after } of requests) {
            now += after;
            if (repeats.isFirst(String(source), now)) report(1);
            for (const { count } of repeats.due(now)) report(count.count);
          }
          // Two minutes of counting may overlap one of the clock's, and the entry for the rest is additional.
          for (const count of perMinute.values()) expect(count).toBeLessThanOrEqual(2 * 3 + 2);
          for (const { count } of repeats.rest()) reported += count.count;
          expect(reported).toBe(requests.length);
        },
      ),
    );
  });
});
