import { expect, test } from 'vitest';
import { toFilters } from './search.ts';

test.each<[string, string | undefined]>([
  ['status:approved', 'status=approved'],
  ['status:approved amount:>100 last:30m', 'status=approved&amountFrom=100&last=30m'],
  ['amount:<=50 team:shop', 'amountTo=50&team=shop'],
  ['amount:12.50', 'amountFrom=12.50&amountTo=12.50'],
  ['order:4711', 'orderNumber=4711'],
  ['card:1251', 'sanitizedMask=1251'],
  ['from:2030-01-31T14:05 to:2030-02-01', 'from=2030-01-31T14%3A05&to=2030-02-01'],
  ['reason:"lost card" metadata.order:"a b"', 'declineReason=lost+card&metadata%5Border%5D=a+b'],
  ['unresolved:true before:1h', 'unresolved=true&before=1h'],
  ['"lost card"', undefined],
  ['reason:"lost card', undefined],
  ['"', undefined],
  ['4711', undefined],
  ['pay_1', undefined],
  ['status:approved 4711', undefined],
  ['nothing:known', undefined],
  // Names of object properties are not filters.
  ['constructor:foo', undefined],
  ['__proto__:foo', undefined],
  ['amount:much', undefined],
])('%s is %s', (text, expected) => {
  expect(toFilters(text)?.toString()).toBe(expected);
});
