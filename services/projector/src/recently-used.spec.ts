import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRecentlyUsed } from './recently-used.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const anyUses = fc.array(fc.record({ key: fc.constantFrom(...names), isGet: fc.boolean() }), {
  maxLength: 60,
});

/** Uses the keys, and gives the values as they were set last, and the keys by when they were used, last first. */
function use(max: number, uses: readonly { key: string; isGet: boolean }[]) {
  const recent = createRecentlyUsed<number>(max);
  const values = new Map<string, number>();
  let lastUsed: string[] = [];
  for (const [index, { key, isGet }] of uses.entries()) {
    if (isGet && recent.get(key) === undefined) continue;
    if (!isGet) {
      recent.set(key, index);
      values.set(key, index);
    }
    lastUsed = [key, ...lastUsed.filter((each) => each !== key)];
  }
  return { recent, values, lastUsed };
}

it('remembers the half of max that was used last', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), anyUses, (max, uses) => {
      const { recent, values, lastUsed } = use(max, uses);
      const half = lastUsed.slice(0, Math.ceil(max / 2));
      // The oldest one first, for finding one may make room by another's.
      for (const key of half.reverse()) expect(recent.get(key)).toBe(values.get(key));
    }),
  );
});

it('remembers no more than max, and each as it was set last', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), anyUses, (max, uses) => {
      const { recent, values } = use(max, uses);
      const remembered = names.filter((key) => recent.get(key) !== undefined);
      expect(remembered.length).toBeLessThanOrEqual(max);
      for (const key of remembered) expect([undefined, values.get(key)]).toContain(recent.get(key));
    }),
  );
});

it('forgets all', () => {
  const recent = createRecentlyUsed<number>(4);
  recent.set('a', 1);
  recent.clear();
  expect(recent.get('a')).toBeUndefined();
});
