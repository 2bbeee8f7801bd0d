import { expect, it } from 'vitest';
import { ownWalletTeam, providerWallet, walletNameOf, walletNameSchema, walletSchema } from './requester.ts';

it('a wallet belongs to its team, to a group of teams, or to the provider', () => {
  const nameOf = (wallet: Parameters<typeof walletNameOf>[0]['wallet']) =>
    walletNameOf({ team: 'shop', wallet });
  expect(nameOf({ kind: 'own' })).toBe('team-shop');
  expect(nameOf({ kind: 'shared', name: 'group' })).toBe('wallet-group');
  expect(nameOf({ kind: 'provider' })).toBe(providerWallet);
  expect(ownWalletTeam('team-shop')).toBe('shop');
  for (const shared of ['wallet-group', providerWallet, 'a-team-shop', 'team-'])
    expect(ownWalletTeam(shared)).toBeUndefined();
  for (const wallet of [{ kind: 'own' }, { kind: 'shared', name: 'group' }, { kind: 'provider' }])
    expect(walletSchema.parse(wallet)).toEqual(wallet);
  expect(walletSchema.safeParse({ kind: 'shared' }).success).toBe(false);
});

it('the name of a wallet is short, in lower case, and begins with a letter', () => {
  for (const name of ['a', 'a1-b', 'a'.repeat(63)]) expect(walletNameSchema.parse(name)).toBe(name);
  for (const name of ['', '1a', '-a', 'A', 'a_b', 'a.b', ' a', 'a ', 'a'.repeat(64)])
    expect(walletNameSchema.safeParse(name).error?.issues[0]?.message).toBe(
      'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter',
    );
});
