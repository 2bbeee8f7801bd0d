import { expect, test } from 'vitest';
import { isOwnedBy, isToken } from './ownership.ts';

const caller = { team: 'shop', environment: 'sandbox' } as const;

test.each([
  ['its own', { team: 'shop', environment: 'sandbox' }, true],
  ["another team's", { team: 'games', environment: 'sandbox' }, false],
  ['its own in the other environment', { team: 'shop', environment: 'production' }, false],
  ['what belongs to no team', { environment: 'sandbox' }, false],
])('a caller owns %s: %j is %s', (_name, owned, isOwned) => {
  expect(isOwnedBy(owned, caller)).toBe(isOwned);
});

test.each(['', 'a b', '../x', 'pay-1/x', 'x'.repeat(129), 'pay_é'])('%j is not a token', (text) => {
  expect(isToken(text)).toBe(false);
});

test('a derived token is a token', () => {
  expect(isToken('pay_kvfr2icb77qdmlphfs7vmiq5gg5ke67uygzh4abw25d2p7k46zca')).toBe(true);
});
