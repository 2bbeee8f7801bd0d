import { describe, expect, it } from 'vitest';
import { type Wallet, walletSchema } from './money-settings.ts';
import { type TeamEvent, type TeamState, decideTeam, evolveTeam } from './team.ts';

const added: TeamEvent = { type: 'TeamAdded', data: { name: 'shop' } };
const teamOf = (...events: TeamEvent[]): TeamState =>
  [added, ...events].reduce<TeamState>(evolveTeam, undefined);
const chosen = (wallet: Wallet): TeamEvent => ({ type: 'WalletChosen', data: { wallet } });
const choose = (state: TeamState, wallet: Wallet) => decideTeam(state, { type: 'ChooseWallet', wallet });

describe('the wallet of a team', () => {
  const group: Wallet = { kind: 'shared', name: 'group' };

  it('is its own until another one is chosen by name', () => {
    expect(teamOf()?.money.wallet).toEqual({ kind: 'own' });
    expect(teamOf(chosen(group))?.money.wallet).toEqual(group);
    expect(teamOf(chosen(group), chosen({ kind: 'provider' }))?.money.wallet).toEqual({ kind: 'provider' });
  });

  it.each<[Wallet, Wallet]>([
    [{ kind: 'own' }, group],
    [group, { kind: 'shared', name: 'others' }],
    [group, { kind: 'provider' }],
    [group, { kind: 'own' }],
  ])('%j becomes %j once', (before, after) => {
    expect(choose(teamOf(chosen(before)), after)).toEqual({ kind: 'events', events: [chosen(after)] });
    expect(choose(teamOf(chosen(after)), after)).toEqual({ kind: 'events', events: [] });
  });

  it.each(['', 'Group', '1st', 'a b', 'a'.repeat(64)])('is not shared under the name %j', (name) => {
    expect(walletSchema.safeParse({ kind: 'shared', name }).success).toBe(false);
  });
});
