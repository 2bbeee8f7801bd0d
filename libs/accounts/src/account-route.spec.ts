import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountConfig } from './account.ts';
import { routeOf } from './accounts.ts';

const account = (name: string, changes: Partial<AccountConfig> = {}): AccountConfig => ({
  environment: 'sandbox',
  name,
  weight: 1,
  priority: 0,
  concurrentCallsMax: 1,
  callsPerSecondMax: 1,
  ...changes,
});
const wanted = { environment: 'sandbox', team: 'shop', currency: 'EUR', token: 'pay_1' } as const;
const tokens = Array.from({ length: 10_000 }, (_, index) => `pay_${index}`);

/** The share of tokens for which each account is first. */
function sharesOf(accounts: readonly AccountConfig[]): Record<string, number> {
  const shares = Object.fromEntries(accounts.map(({ name }) => [name, 0]));
  for (const token of tokens) {
    const first = routeOf(accounts, { ...wanted, token })[0] ?? '';
    shares[first] = (shares[first] ?? 0) + 1 / tokens.length;
  }
  return shares;
}

describe('routeOf', () => {
  it.each<[string, Partial<AccountConfig>, boolean]>([
    ['names neither', {}, true],
    ['names the currency and the team', { currencies: ['USD', 'EUR'], teams: ['desk', 'shop'] }, true],
    ['names other currencies', { currencies: ['USD'] }, false],
    ['names other teams', { teams: ['desk'] }, false],
    ['names the team and other currencies', { teams: ['shop'], currencies: ['USD'] }, false],
    ['is of another environment', { environment: 'production' }, false],
  ])('tries an account that %s: %s', (_name, changes, isAsked) => {
    expect(routeOf([account('one', changes)], wanted)).toEqual(isAsked ? ['one'] : []);
  });

  it('sorts by priority first, with any weights', () => {
    const accounts = [
      account('last', { priority: 9, weight: 1_000 }),
      account('first', { priority: -1 }),
      account('middle', { priority: 0, weight: 50 }),
    ];
    for (const token of tokens.slice(0, 200))
      expect(routeOf(accounts, { ...wanted, token })).toEqual(['first', 'middle', 'last']);
  });

  it('gives each account of a priority the share that its weight asks for', () => {
    const shares = sharesOf([
      account('a', { weight: 1 }),
      account('b', { weight: 2 }),
      account('c', { weight: 7 }),
    ]);
    // Five standard deviations of 10,000 draws, at most.
    expect(Math.abs((shares['a'] ?? 0) - 0.1)).toBeLessThan(0.015);
    expect(Math.abs((shares['b'] ?? 0) - 0.2)).toBeLessThan(0.02);
    expect(Math.abs((shares['c'] ?? 0) - 0.7)).toBeLessThan(0.023);
  });

  it('distributes the share of a failing account by the weights of the others', () => {
    const accounts = [account('a', { weight: 4 }), account('b', { weight: 1 }), account('c', { weight: 3 })];
    const routes = tokens.map((token) => routeOf(accounts, { ...wanted, token }));
    const fallenOver = routes.filter(([first]) => first === 'a').map(([, second]) => second);
    const shareOfC = fallenOver.filter((name) => name === 'c').length / fallenOver.length;
    expect(Math.abs(shareOfC - 0.75)).toBeLessThan(0.035);
  });

  const drawnAccounts = fc.uniqueArray(
    fc.record({
      name: fc.string({ minLength: 1, maxLength: 8 }),
      weight: fc.integer({ min: 1, max: 1_000 }),
      priority: fc.integer({ min: 0, max: 2 }),
    }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 8 },
  );

  it('does not depend on the order of the configuration', () => {
    fc.assert(
      fc.property(drawnAccounts, fc.string(), fc.nat(), (drawn, token, turn) => {
        const accounts = drawn.map(({ name, ...changes }) => account(name, changes));
        const cut = turn % accounts.length;
        const turned = [...accounts.slice(cut), ...accounts.slice(0, cut)].reverse();
        expect(routeOf(turned, { ...wanted, token })).toEqual(routeOf(accounts, { ...wanted, token }));
      }),
    );
  });

  it('keeps the order of the other accounts when one is added', () => {
    fc.assert(
      fc.property(drawnAccounts, fc.string(), (drawn, token) => {
        const [added, ...before] = drawn.map(({ name, ...changes }) => account(name, changes));
        if (added === undefined) return;
        const route = routeOf([...before, added], { ...wanted, token });
        expect(route.filter((name) => name !== added.name)).toEqual(routeOf(before, { ...wanted, token }));
      }),
    );
  });

  it('moves only the share of an added account', () => {
    const before = [account('a'), account('b'), account('c')];
    const after = [...before, account('d')];
    const moved = tokens.filter(
      (token) => routeOf(after, { ...wanted, token })[0] !== routeOf(before, { ...wanted, token })[0],
    );
    expect(Math.abs(moved.length / tokens.length - 0.25)).toBeLessThan(0.022);
  });

  // If a release draws differently, it sends a replay to another account while two versions run side by side.
  it('draws the same numbers as every release before', () => {
    const accounts = [account('a'), account('b'), account('c')];
    const firsts = tokens.slice(0, 12).map((token) => routeOf(accounts, { ...wanted, token })[0]);
    expect(firsts.join('')).toBe('ccbcacbbcccb');
  });
});
