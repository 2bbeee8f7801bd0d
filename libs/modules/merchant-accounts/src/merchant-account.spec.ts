import { describe, expect, it } from 'vitest';
import {
  type MerchantAccounts,
  accountChangeOf,
  decideAccountChange,
  decodeMerchantAccountEvent,
  evolveMerchantAccounts,
  noAccountChanges,
} from './merchant-account.ts';
import type { AccountState } from '@tollgate/accounts';

const change = (state: AccountState, reason = 'maintenance') =>
  ({ environment: 'production', account: 'main', state, reason, changedBy: 'ada', changedAt: 5 }) as const;

const decide = (accounts: MerchantAccounts, state: AccountState, isReconciled = false) =>
  decideAccountChange(accounts, change(state), () => isReconciled);

/** The accounts after these changes, and the types of the events. */
function after(...states: AccountState[]) {
  let accounts = noAccountChanges;
  const types: string[] = [];
  for (const state of states) {
    const decision = decide(accounts, state);
    if (decision.kind === 'refused') throw new Error('refused');
    types.push(...decision.events.map(({ type }) => type));
    accounts = decision.events.reduce(evolveMerchantAccounts, accounts);
  }
  return { accounts, types };
}

it('changes from every state to every other', () => {
  const { accounts, types } = after('paused', 'draining', 'active', 'draining', 'paused', 'active');
  expect(types).toEqual([
    ...['AccountPaused', 'AccountDrained', 'AccountResumed'],
    ...['AccountDrained', 'AccountPaused', 'AccountResumed'],
  ]);
  expect(accountChangeOf(accounts, 'production', 'main')).toEqual(change('active'));
});

// A pause got no answer from the store, the resume after it found no change and succeeded, and then the pause took effect.
// If both are recorded at the same revision, one conflicts with the other.
it('is recorded even to the current state, and the last reason counts', () => {
  expect(after('active').types).toEqual(['AccountResumed']);
  const again = evolveMerchantAccounts(after('paused').accounts, {
    type: 'AccountPaused',
    data: change('paused', 'another'),
  });
  expect(accountChangeOf(again, 'production', 'main')).toMatchObject({ state: 'paused', reason: 'another' });
});

it('is not changed by a reload of the accounts file', () => {
  const { accounts } = after('paused');
  const reload = { type: 'AccountsReloadRequested', data: { requestedAt: 1 } } as const;
  expect(evolveMerchantAccounts(accounts, reload)).toBe(accounts);
});

it('applies to one account in one environment', () => {
  const { accounts } = after('paused');
  expect(accountChangeOf(accounts, 'sandbox', 'main')).toBeUndefined();
  expect(accountChangeOf(accounts, 'production', 'other')).toBeUndefined();
  expect(() => decodeMerchantAccountEvent({ type: 'AccountClosed', data: {} })).toThrow(RangeError);
});

describe('after a restore of the store', () => {
  const restore = { lastEventAt: 1, restoredAt: 2, restoredBy: 'ada' };
  const restored = evolveMerchantAccounts(after('active').accounts, { type: 'StoreRestored', data: restore });

  it('every account is paused, named or not', () => {
    for (const account of ['main', 'other'])
      expect(accountChangeOf(restored, 'production', account)).toMatchObject({
        state: 'paused',
        changedBy: 'ada',
      });
  });

  it('an account is resumed or drained only once the lost days are reconciled', () => {
    const refusal = { code: 'reconciliation_due', restore };
    for (const state of ['active', 'draining'] as const) {
      expect(decide(restored, state)).toEqual({ kind: 'refused', refusal });
      expect(decide(restored, state, true).kind).toBe('events');
    }
    expect(decide(restored, 'paused').kind).toBe('events');
  });
});
