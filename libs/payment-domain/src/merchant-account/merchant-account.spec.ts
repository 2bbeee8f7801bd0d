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
    const decision = decideAccountChange(change(state));
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

// Seed 683: a pause got no answer from the store, the resume after it found nothing to do and was answered, and then the
// pause took effect. Both are on record at the same revision, so one of the two comes to know of the other.
it('is on record also where the account is in that state already, and the last reason counts', () => {
  expect(after('active').types).toEqual(['AccountResumed']);
  const { accounts } = after('paused');
  const decision = decideAccountChange(change('paused', 'another'));
  if (decision.kind === 'refused') throw new Error('refused');
  const [event] = decision.events;
  const again = evolveMerchantAccounts(accounts, event!);
  expect(again.get('production/main')).toMatchObject({ state: 'paused', reason: 'another' });
});

it('is not changed by a reload of the accounts file', () => {
  const { accounts } = after('paused');
  const reload = { type: 'AccountsReloadRequested', data: { requestedAt: 1 } } as const;
  expect(evolveMerchantAccounts(accounts, reload)).toBe(accounts);
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
