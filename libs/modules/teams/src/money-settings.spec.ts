import { describe, expect, it } from 'vitest';
import { approvalAboveIn, decideMoney, noMoneySettings } from './money-settings.ts';
import { type Wallet, walletSchema } from '@tollgate/core';
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

describe('the sum above which payouts wait for a second key', () => {
  const required = (
    environment: 'sandbox' | 'production',
    currency: string,
    above: number | null,
  ): TeamEvent => ({
    type: 'ApprovalRequired',
    data: { environment, currency, above },
  });

  it('is one per environment and currency, and removed by name', () => {
    const team = teamOf(
      ...[required('production', 'EUR', 5), required('sandbox', 'EUR', 1), required('production', 'USD', 7)],
      ...[required('production', 'EUR', 0), required('sandbox', 'EUR', null)],
    );
    expect(approvalAboveIn(team!.money, 'production')).toEqual({ EUR: 0, USD: 7 });
    expect(approvalAboveIn(team!.money, 'sandbox')).toBeUndefined();
  });

  it('that is already set writes nothing', () => {
    const command = { type: 'RequireApproval', environment: 'sandbox', currency: 'EUR', above: 5 } as const;
    expect(decideTeam(teamOf(), command)).toEqual({
      kind: 'events',
      events: [required('sandbox', 'EUR', 5)],
    });
    expect(decideTeam(teamOf(required('sandbox', 'EUR', 5)), command)).toEqual({
      kind: 'events',
      events: [],
    });
    expect(decideTeam(teamOf(), { ...command, above: null })).toEqual({ kind: 'events', events: [] });
  });
});

// The fields of the command were in another order than those of the event: a limit of a key was recorded again each time, and
// the operator's request waited two seconds for this process to apply it again.
it('a limit of a key that is already set writes nothing, in any order of its fields', () => {
  const terms = { environment: 'sandbox', operation: 'payout', currency: 'EUR' } as const;
  const sums = { perCall: 5, perDay: null };
  const settings = { ...noMoneySettings, limits: [{ ...terms, keyId: 'k1', ...sums }] };
  const command = { type: 'LimitMoney', ...terms, ...sums, keyId: 'k1' } as const;
  expect(decideMoney(settings, command)).toEqual({ kind: 'events', events: [] });
  expect(decideMoney(settings, { ...command, perCall: 6 })).toMatchObject({
    events: [{ type: 'MoneyLimited' }],
  });
});
