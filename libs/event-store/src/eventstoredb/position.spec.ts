import { expect, it, test } from 'vitest';
import { beginning, type Position } from '../event-store.ts';
import { fromPosition, toPosition } from './position.ts';

it('writes positions that sort as text, beyond the range of a number, and reads them back', () => {
  const places = [1n, 9n, 10n, 2n ** 53n + 1n, 2n ** 63n - 1n].map((each) => ({
    commit: each,
    prepare: each,
  }));
  const positions = places.map(toPosition);
  expect(positions.toSorted()).toEqual(positions);
  expect(positions.map(fromPosition)).toEqual(places);
  expect(fromPosition(beginning)).toBe('start');
});

it('writes them in the format of the header Tollgate-Min-Position', () => {
  expect(toPosition({ commit: 2n ** 63n - 1n, prepare: 7n })).toMatch(/^\d[\d:/-]{0,63}$/);
});

test.each(['7', '0000000000000001', 'x'])('refuses %s, which another store has written', (text) => {
  expect(() => fromPosition(text as Position)).toThrow('EventStoreDB');
});

it('reports that a server without positions is too old', () => {
  const unknown = { commit: 2n ** 64n - 1n, prepare: 2n ** 64n - 1n };
  for (const place of [undefined, unknown]) expect(() => toPosition(place)).toThrow('22.10');
});
