import { expect, it } from 'vitest';
import { createPlaces } from './places.ts';

it('a holder has so many places, all have so many together, and a place is left once', () => {
  const places = createPlaces({ perHolderMax: 2, totalMax: 3 });
  const leave = places.take('shop');
  expect(leave).toBeDefined();
  expect(places.take('shop')).toBeDefined();
  expect(places.take('shop')).toBeUndefined();
  expect(places.take('games')).toBeDefined();
  expect(places.take('games')).toBeUndefined();
  leave?.();
  leave?.();
  expect(places.take('shop')).toBeDefined();
  expect(places.take('games')).toBeUndefined();
});
