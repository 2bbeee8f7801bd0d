import { expect, it } from 'vitest';
import { createFakeIds } from './fake-ids.ts';

const draw = (seed: number) => {
  const ids = createFakeIds(seed);
  return [ids.uuid(), ids.hex(16), ids.fraction(), ids.uuid()];
};

it('returns the same sequence for the same seed, and another for another', () => {
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

it('returns UUIDs of version 4 that do not repeat', () => {
  const ids = createFakeIds();
  const uuids = Array.from({ length: 10_000 }, () => ids.uuid());
  for (const uuid of uuids)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(uuids).size).toBe(uuids.length);
});

it('returns the requested number of bytes', () => {
  expect(createFakeIds().hex(3)).toMatch(/^[0-9a-f]{6}$/);
});

it('returns fractions that fill [0, 1)', () => {
  const ids = createFakeIds();
  const fractions = Array.from({ length: 10_000 }, () => ids.fraction());
  expect(fractions.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true);
  const mean = fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length;
  expect(mean).toBeCloseTo(0.5, 1);
});
