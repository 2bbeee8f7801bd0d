import { expect, test } from 'vitest';
import { formatCursor, pageOf, pagedRowsMax, parseCursor, type PaymentListQuery } from './payment-list.ts';

const shop: PaymentListQuery = { environment: 'sandbox', team: 'shop', perPage: 20 };
const place = { createdAt: 1_767_000_000_000, token: 'pay_abc-1_x' };

test('a cursor leads its team to its place', () => {
  expect(parseCursor(shop, formatCursor(shop, place))).toEqual(place);
});

test('a cursor of another team, of another environment, or changed by hand is none', () => {
  const cursor = formatCursor(shop, place);
  expect(parseCursor({ ...shop, team: 'games' }, cursor)).toBeUndefined();
  expect(parseCursor({ ...shop, environment: 'production' }, cursor)).toBeUndefined();
  const [, , check] = Buffer.from(cursor, 'base64url').toString().split('.');
  const moved = Buffer.from(`${place.createdAt}.pay_other.${check}`).toString('base64url');
  for (const text of [moved, '', 'x', '%', cursor.repeat(40)])
    expect(parseCursor(shop, text)).toBeUndefined();
});

test('pages lead down to a limit, cursors beyond it', () => {
  expect(pageOf({ ...shop, page: 3 })).toEqual({ kind: 'rows', skip: 40 });
  expect(pageOf({ ...shop, page: pagedRowsMax / 20 })).toEqual({ kind: 'rows', skip: pagedRowsMax - 20 });
  expect(pageOf({ ...shop, page: pagedRowsMax / 20 + 1 })).toEqual({ kind: 'refused', parameter: 'page' });
  expect(pageOf({ ...shop, cursor: formatCursor(shop, place) })).toEqual({
    kind: 'rows',
    after: place,
    skip: 0,
  });
});
