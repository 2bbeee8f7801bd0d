import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSpendingDay } from './spending-day.ts';

const step = fc.record({
  do: fc.constantFrom('reserve' as const, 'release' as const, 'settle' as const, 'look' as const),
  token: fc.constantFrom('a', 'b', 'c'),
  amount: fc.integer({ min: 1, max: 1_000 }),
});

it('counts what is reserved and not released, each once, in whatever order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const day = createSpendingDay();
      const expected = new Map<string, number>();
      for (const { do: kind, token, amount } of steps) {
        if (kind === 'reserve') {
          day.reserve({ token, subject: token, amount, lapsesAt: 0 });
          expected.set(token, amount);
        } else if (kind === 'release') {
          day.release([token]);
          expected.delete(token);
        } else if (kind === 'settle') day.settle([token]);
        else expect(day.undecided(2).every((entry) => expected.has(entry.token))).toBe(true);
        expect(day.used()).toBe(BigInt([...expected.values()].reduce((sum, each) => sum + each, 0)));
        expect(day.find(token)?.amount).toBe(expected.get(token));
      }
    }),
  );
});
