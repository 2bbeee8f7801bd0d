import { expect, test } from 'vitest';
import { SumTooLarge, toPublicTotals, type TotalsRow } from './totals.ts';

const row = (day: string, currency: string, line: string, [count, amount]: [number, bigint]): TotalsRow[] => [
  { day, currency, line, measure: 'count', sum: BigInt(count) },
  { day, currency, line, measure: 'amount', sum: amount },
];

const rows = [
  ...row('2026-01-02', 'USD', 'payments init', [1, 5n]),
  ...row('2026-01-02', 'EUR', 'payments approved', [2, 30n]),
  ...row('2026-01-02', 'EUR', 'refunds reserved', [1, 7n]),
  ...row('2026-01-03', 'EUR', 'payments approved', [1, 12n]),
  ...row('2026-01-03', 'EUR', 'payouts pending', [1, 9n]),
];

test('totals are by day and then by currency, with zeros, and summed by currency', () => {
  const { days, sums } = toPublicTotals(rows, { withPayouts: true });
  expect(days.map(({ day, currencies }) => [day, currencies.map(({ currency }) => currency)])).toEqual([
    ['2026-01-02', ['EUR', 'USD']],
    ['2026-01-03', ['EUR']],
  ]);
  expect(days[1]?.currencies[0]).toMatchObject({
    payments: { approved: { count: 1, amount: 12 }, declined: { count: 0, amount: 0 } },
    refunds: { confirmed: { count: 0, amount: 0 }, reserved: { count: 0, amount: 0 } },
    payouts: { pending: { count: 1, amount: 9 } },
  });
  expect(sums.map(({ currency }) => currency)).toEqual(['EUR', 'USD']);
  expect(sums[0]).toMatchObject({
    payments: { approved: { count: 3, amount: 42 } },
    refunds: { reserved: { count: 1, amount: 7 } },
  });
});

test('payouts are shown only to keys that may read them', () => {
  const { days, sums } = toPublicTotals(rows, { withPayouts: false });
  expect(sums[0]).not.toHaveProperty('payouts');
  expect(days).toHaveLength(2);
});

test('a sum that JSON cannot represent exactly is refused', () => {
  const huge = row('2026-01-02', 'EUR', 'payments approved', [1, BigInt(Number.MAX_SAFE_INTEGER)]);
  expect(toPublicTotals(huge, { withPayouts: false }).sums).toHaveLength(1);
  expect(() =>
    toPublicTotals([...huge, ...row('2026-01-03', 'EUR', 'payments approved', [1, 1n])], {
      withPayouts: false,
    }),
  ).toThrow(SumTooLarge);
});
