/** Operators close an account to new payments, or entirely, and change its terms while calls are under way. */
import { breakerFailuresMax, StartupError, silentLog } from '@tollgate/service-kit';
import type { AccountState, Account, Permit, PermitResult } from './account.ts';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { createAccounts } from './accounts.ts';
import { permitWaitMs } from './permits.ts';

interface Provider {
  name: string;
}

const account = (name: string, changes: Partial<Account<Provider>> = {}): Account<Provider> => ({
  environment: 'sandbox',
  name,
  weight: 1,
  priority: 0,
  provider: { name },
  concurrentCallsMax: 10,
  callsPerSecondMax: 1_000,
  ...changes,
});
const wanted = { environment: 'sandbox', team: 'shop', currency: 'EUR', token: 'pay_1' } as const;

function start(...configured: readonly Account<Provider>[]) {
  const clock = createFakeClock();
  const accounts = createAccounts({ accounts: configured, clock, log: silentLog });
  const set = (name: string, state: AccountState) => accounts.setState('sandbox', name, state);
  const forNew = () => accounts.permitAmong('sandbox', accounts.route(wanted), { mayWait: false });
  const forBegun = (name = 'one') => accounts.permitOf('sandbox', name, { mayWait: false });
  const stateOf = (name: string) => accounts.health().find((each) => each.account === name)?.state;
  return { clock, accounts, set, forNew, forBegun, stateOf };
}

const closed = (state: string) => ({ kind: 'unavailable', closed: state, retryAfterSeconds: 30 });
const nameIn = (result: PermitResult<Provider>) =>
  result.kind === 'permit' ? result.permit.account : result;
function permitIn(result: PermitResult<Provider>): Permit<Provider> {
  if (result.kind !== 'permit') throw new Error(`there is no permit but ${result.kind}`);
  return result.permit;
}

describe('an account that is', () => {
  it.each([
    ['active', 'one', 'one'],
    ['draining', closed('draining'), 'one'],
    ['paused', closed('paused'), closed('paused')],
  ] as const)(
    '%s issues permits for new calls, and for calls on existing payments',
    async (state, fresh, begun) => {
      const { set, forNew, forBegun, stateOf, accounts } = start(account('one'));
      set('one', state);
      expect([nameIn(await forNew()), nameIn(await forBegun())]).toEqual([fresh, begun]);
      expect([stateOf('one'), accounts.stateOf('sandbox', 'one')]).toEqual([state, state]);
      set('one', 'active');
      expect(nameIn(await forNew())).toBe('one');
    },
  );

  it.each(['draining', 'paused'] as const)('%s leaves new payments to the other accounts', async (state) => {
    const { set, forNew } = start(account('one'), account('two', { priority: 1 }));
    set('one', state);
    expect(nameIn(await forNew())).toBe('two');
    set('two', 'paused');
    expect(nameIn(await forNew())).toEqual(closed(state));
  });

  it('paused still answers inquiries', () => {
    const { set, accounts } = start(account('one'));
    set('one', 'paused');
    expect(accounts.inquiriesOf('sandbox', 'one')?.limits.perSecondMax()).toBe(200);
  });

  it('closed before it is configured is closed from its first use', async () => {
    const { accounts, set, forBegun } = start(account('one'));
    set('two', 'paused');
    accounts.configure([account('one'), account('two')]);
    expect(nameIn(await forBegun('two'))).toEqual(closed('paused'));
  });
});

it('rejects waiting callers at once, except those that it still serves', async () => {
  const { set, clock, accounts, forBegun } = start(account('one', { concurrentCallsMax: 1 }));
  const underWay = permitIn(await forBegun());
  const ends: string[] = [];
  const ask = (name: string, asking: Promise<PermitResult<Provider>>) =>
    void asking.then((result) => ends.push(`${name}: ${result.kind}`));
  ask('new', accounts.permitAmong('sandbox', accounts.route(wanted)));
  ask('begun', accounts.permitOf('sandbox', 'one'));
  set('one', 'draining');
  await clock.advance(0);
  expect(ends).toEqual(['new: unavailable']);
  underWay.release('accepted');
  await clock.advance(permitWaitMs);
  expect(ends).toEqual(['new: unavailable', 'begun: permit']);
  expect(clock.sleeperCount()).toBe(0);
});

it('does not affect a call under way, and counts it until it ends', async () => {
  const { set, accounts, forBegun } = start(account('one'));
  const permit = permitIn(await forBegun());
  set('one', 'paused');
  expect(accounts.health()).toMatchObject([{ state: 'paused', callsUnderWay: 1 }]);
  permit.release('accepted');
  expect(accounts.health()).toMatchObject([{ state: 'paused', callsUnderWay: 0 }]);
});

describe('new terms', () => {
  it('apply at once, and calls under way still count', async () => {
    const { accounts, forBegun } = start(account('one', { concurrentCallsMax: 1 }));
    permitIn(await forBegun());
    expect((await forBegun()).kind).toBe('unavailable');
    accounts.configure([account('one', { concurrentCallsMax: 2 })]);
    permitIn(await forBegun());
    expect((await forBegun()).kind).toBe('unavailable');
  });

  it('use a new provider for the next call, and keep the circuit', async () => {
    const { accounts, forBegun } = start(account('one'));
    for (let failed = 0; failed < breakerFailuresMax; failed += 1)
      permitIn(await forBegun()).release('unknown');
    const provider = { name: 'another' };
    accounts.configure([account('one', { provider })]);
    expect(accounts.health()).toMatchObject([{ breaker: 'open' }]);
    expect(accounts.inquiriesOf('sandbox', 'one')?.provider).toBe(provider);
  });

  it('remove an account, and restore it with its calls under way', async () => {
    const { accounts, forBegun } = start(account('one'), account('two'));
    permitIn(await forBegun('two'));
    accounts.configure([account('one')]);
    expect([await forBegun('two'), accounts.stateOf('sandbox', 'two')]).toEqual([
      { kind: 'no-account' },
      undefined,
    ]);
    accounts.configure([account('one'), account('two')]);
    expect(accounts.health()).toMatchObject([{}, { account: 'two', callsUnderWay: 1 }]);
  });

  it('that are invalid change nothing', async () => {
    const { accounts } = start(account('one'));
    expect(() => accounts.configure([account('two'), account('two')])).toThrow(StartupError);
    expect(accounts.all()).toMatchObject([{ name: 'one' }]);
  });
});
