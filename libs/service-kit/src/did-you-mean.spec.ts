import { expect, it } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

const known = ['orderNumber', 'amount', 'currency', 'product'];

it.each([
  ['ordernumber', ' Did you mean orderNumber?'],
  ['order_number', ' Did you mean orderNumber?'],
  ['orderNumbr', ' Did you mean orderNumber?'],
  ['curency', ' Did you mean currency?'],
  ['amt', ''],
  ['callbackUrl', ''],
  ['', ''],
  ['x'.repeat(100_000), ''],
])('%s: %s', (typed, expected) => {
  expect(didYouMean(typed, known)).toBe(expected);
});
