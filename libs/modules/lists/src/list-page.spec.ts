import { expect, test } from 'vitest';
import { formatCursor, parseCursor, type PageQuery } from './list-page.ts';

const shop: PageQuery = { environment: 'sandbox', team: 'shop', perPage: 20 };
const place = { at: 1_767_000_000_000, key: 'pay_abc-1_x' };

test('a cursor leads its team to its place', () => {
  expect(parseCursor('payments', shop, formatCursor('payments', shop, place))).toEqual(place);
});

test('a cursor of another team, environment or list, or one changed by hand, is invalid', () => {
  const cursor = formatCursor('payments', shop, place);
  expect(parseCursor('payments', { ...shop, team: 'games' }, cursor)).toBeUndefined();
  expect(parseCursor('payments', { ...shop, environment: 'production' }, cursor)).toBeUndefined();
  expect(parseCursor('payouts', shop, cursor)).toBeUndefined();
  const [, , check] = Buffer.from(cursor, 'base64url').toString().split('.');
  const moved = Buffer.from(`${place.at}.pay_other.${check}`).toString('base64url');
  for (const text of [moved, '', 'x', '%', cursor.repeat(40)])
    expect(parseCursor('payments', shop, text)).toBeUndefined();
});

test('a cursor is bound to the filters of its list, in any spelling, and not to the page size', () => {
  const filtered = { ...shop, status: 'declined', currency: 'JPY' };
  const cursor = formatCursor('payments', filtered, place);
  const same = {
    perPage: 500,
    currency: 'JPY',
    status: 'declined',
    team: 'shop',
    environment: 'sandbox',
  } as const;
  expect(parseCursor('payments', same, cursor)).toEqual(place);
  expect(parseCursor('payments', { ...same, withTotal: true } as PageQuery, cursor)).toEqual(place);
  for (const other of [shop, { ...filtered, currency: 'EUR' }, { ...filtered, needsReview: false }])
    expect(parseCursor('payments', other, cursor)).toBeUndefined();
});
