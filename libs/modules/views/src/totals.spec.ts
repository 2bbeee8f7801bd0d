import { paymentStatuses } from '@tollgate/core/money';
import { payoutStatusSchema } from '@tollgate/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTotalsChanges, type DayTotals, type TotalsKey, type TotalsLine } from './totals.ts';

const key: TotalsKey = { environment: 'sandbox', team: 'shop', currency: 'EUR', day: '2026-01-02' };

const places: Pick<TotalsLine, 'group' | 'name'>[] = [
  ...paymentStatuses.map((name) => ({ group: 'payments' as const, name })),
  { group: 'refunds', name: 'confirmed' },
  { group: 'refunds', name: 'reserved' },
  ...payoutStatusSchema.options.map((name) => ({ group: 'payouts' as const, name })),
];
const amount = fc.oneof(
  fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER),
  fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
);
const anyLine = fc
  .record({ place: fc.constantFrom(...places), amount })
  .map(({ place, amount: of }) => ({ ...place, amount: of }) as TotalsLine);
/** The new contribution of one of four payments or payouts. */
const anyStep = fc.record({ number: fc.nat(3), after: fc.array(anyLine, { maxLength: 3 }) });
const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 25, size: 'max' });

type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

/** The totals after all steps, in groups of this size. */
function totalsAfter(steps: readonly Step[], batchSize: number): DayTotals | undefined {
  const counted = new Map<number, readonly TotalsLine[]>();
  let totals: DayTotals | undefined;
  for (let first = 0; first < steps.length; first += batchSize) {
    const changes = createTotalsChanges();
    for (const { number, after } of steps.slice(first, first + batchSize)) {
      const before = counted.get(number);
      changes.replace(before && { key, lines: before }, { key, lines: after });
      counted.set(number, after);
    }
    for (const { addTo } of changes.list()) totals = addTo(totals);
  }
  return totals;
}

function sumOf(lines: readonly TotalsLine[], { group, name }: (typeof places)[number]) {
  const own = lines.filter((line) => line.group === group && line.name === name);
  const sum = own.reduce((all, line) => all + BigInt(line.amount), 0n);
  return { group, name, count: own.length, amount: sum.toString() };
}

test('sums are exact, and consist of the latest contributions, however they are batched', () => {
  fc.assert(
    fc.property(anySteps, fc.integer({ min: 1, max: 25 }), (steps, batchSize) => {
      const totals = totalsAfter(steps, batchSize);
      const lines = [...new Map(steps.map(({ number, after }) => [number, after])).values()].flat();
      for (const place of places) {
        const sums: Record<string, object> = totals?.[place.group] ?? {};
        expect({ ...place, ...sums[place.name] }).toEqual(sumOf(lines, place));
      }
      expect(JSON.stringify(totals)).toBe(JSON.stringify(totalsAfter(steps, 1)));
    }),
  );
});

test('changes are separate by environment, team, currency and day', () => {
  const changes = createTotalsChanges();
  const lines: TotalsLine[] = [{ group: 'payments', name: 'init', amount: 1 }];
  const keys = [
    key,
    { ...key, environment: 'production' as const },
    { ...key, team: 'games' },
    { ...key, currency: 'USD' },
    { ...key, day: '2026-01-03' },
  ];
  for (const each of [...keys, key]) changes.replace(undefined, { key: each, lines });
  const found = changes.list().map(({ key: each, addTo }) => [each, addTo(undefined).payments.init.count]);
  expect(found).toEqual(keys.map((each) => [each, each === key ? 2 : 1]));
});
