import { expect, it } from 'vitest';
import { createPlaces } from './places.ts';

it('limits a holder, and all together, and releases a place once', () => {
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
