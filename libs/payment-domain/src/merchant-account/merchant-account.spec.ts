import { expect, it } from 'vitest';
import {
  type AccountState,
  decideAccountChange,
  decodeMerchantAccountEvent,
  evolveMerchantAccounts,
  noAccountChanges,
  versionOfMerchantAccountEvent,
} from './merchant-account.ts';

const change = (state: AccountState, reason = 'maintenance') =>
  ({ environment: 'production', account: 'main', state, reason, changedBy: 'ada', changedAt: 5 }) as const;

/** The accounts after these changes, and the types of the events. */
function after(...states: AccountState[]) {
  let accounts = noAccountChanges;
  const types: string[] = [];
  for (const state of states) {
    const decision = decideAccountChange(accounts, change(state));
    if (decision.kind === 'refused') throw new Error('refused');
    types.push(...decision.events.map(({ type }) => type));
    accounts = decision.events.reduce(evolveMerchantAccounts, accounts);
  }
  return { accounts, types };
}

it('goes from every state into every other', () => {
  const { accounts, types } = after('paused', 'draining', 'active', 'draining', 'paused', 'active');
  expect(types).toEqual([
    ...['AccountPaused', 'AccountDrained', 'AccountResumed'],
    ...['AccountDrained', 'AccountPaused', 'AccountResumed'],
  ]);
  expect(accounts.get('production/main')).toEqual(change('active'));
});

it('stays as it is where it is in that state, with the reason of the first who asked', () => {
  expect(after('active').types).toEqual([]);
  const { accounts } = after('paused');
  expect(decideAccountChange(accounts, change('paused', 'another'))).toEqual({ kind: 'events', events: [] });
  expect(accounts.get('production/main')).toMatchObject({ state: 'paused', reason: 'maintenance' });
});

it('is that of one account in one environment', () => {
  const { accounts } = after('paused');
  expect([accounts.has('sandbox/main'), accounts.has('production/other')]).toEqual([false, false]);
});

// An older release would go on calling a paused account: the store refuses these events until none runs any more.
it('needs a release that heeds it', () => {
  const { state: _, ...data } = change('paused');
  expect(versionOfMerchantAccountEvent({ type: 'AccountPaused', data })).toBe(2);
  expect(versionOfMerchantAccountEvent({ type: 'AccountsReloadRequested', data: { requestedAt: 1 } })).toBe(
    2,
  );
  expect(() => decodeMerchantAccountEvent({ type: 'AccountClosed', data })).toThrow(RangeError);
});
