import type { Position } from '@tollgate/event-store';
import { paymentStatuses } from '@tollgate/payment-api/values';
import { payoutStatusSchema } from '@tollgate/payment-domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applyTotalsChanges,
  totalsViewSchema,
  type TotalsChange,
  type TotalsView,
  type TotalsKey,
} from './totals-view.ts';

type Line = TotalsChange['after'][number];

const key: TotalsKey = { environment: 'sandbox', team: 'shop', currency: 'EUR', day: '2026-01-02' };

const places: Pick<Line, 'group' | 'name'>[] = [
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
  .map(({ place, amount: of }) => ({ ...place, amount: of }) as Line);
/** What one of four payments or payouts adds to the totals from now on. */
const anyStep = fc.record({ number: fc.nat(3), after: fc.array(anyLine, { maxLength: 3 }) });
/** Where each batch ends, and how many changes before it come again. */
const anyBatches = fc.array(fc.record({ upTo: fc.nat(25), again: fc.nat(5) }), { maxLength: 8 });

type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

function toChanges(steps: readonly Step[]): TotalsChange[] {
  const counted = new Map<number, readonly Line[]>();
  return steps.map(({ number, after }, revision) => {
    const before = counted.get(number) ?? [];
    counted.set(number, after);
    const position = String(revision + 1).padStart(16, '0') as Position;
    return { key, last: { stream: `payment-p${number}`, revision, position }, before, after };
  });
}

/** As it is stored. */
const bytes = (view: TotalsView | undefined) => JSON.stringify(totalsViewSchema.parse(view));

function sumOf(lines: readonly Line[], { group, name }: (typeof places)[number]) {
  const own = lines.filter((line) => line.group === group && line.name === name);
  const sum = own.reduce((all, line) => all + BigInt(line.amount), 0n);
  return { group, name, count: own.length, amount: sum.toString() };
}

const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 25, size: 'max' });

test('changes in batches, also where some come again, give what they give one after the other', () => {
  fc.assert(
    fc.property(anySteps, anyBatches, (steps, batches) => {
      const changes = toChanges(steps);
      const oneByOne = changes.reduce<TotalsView | undefined>(
        (view, change) => applyTotalsChanges(view, [change]),
        undefined,
      );
      expect(bytes(applyTotalsChanges(undefined, changes))).toBe(bytes(oneByOne));
      let view: TotalsView | undefined;
      let reached = 0;
      for (const { upTo, again } of [...batches, { upTo: changes.length, again: 2 }]) {
        view = applyTotalsChanges(view, changes.slice(Math.max(0, reached - again), upTo));
        reached = Math.max(reached, Math.min(upTo, changes.length));
      }
      expect(bytes(view)).toBe(bytes(oneByOne));
      expect(applyTotalsChanges(view, changes)).toBe(view);
    }),
  );
});

test('sums are exact, and of what each payment or payout has added last', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const view = applyTotalsChanges(undefined, toChanges(steps));
      const lines = [...new Map(steps.map(({ number, after }) => [number, after])).values()].flat();
      for (const place of places) {
        const sums: Record<string, object> = view?.[place.group] ?? {};
        expect({ ...place, ...sums[place.name] }).toEqual(sumOf(lines, place));
      }
    }),
  );
});
