import { type Balance, type InquiryOutcome, type Account, createAccounts } from '@tollgate/core';
import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { createFakeProvider, accountNamed } from '@tollgate/core/testing';
import { createBalances } from './balance.ts';

const wanted = { environment: 'sandbox', team: 'demo', currency: 'EUR' } as const;
const asked = { kind: 'balance', balance: { currency: 'EUR', available: 700, hold: 300 } };

function start(accountsOf: (provider: ReturnType<typeof createFakeProvider>) => Account[]) {
  const clock = createFakeClock();
  const provider = createFakeProvider();
  const accounts = createAccounts({ accounts: accountsOf(provider), clock, log: silentLog });
  return { clock, provider, accounts, balances: createBalances({ accounts, clock }) };
}
const startWithOne = () => start(({ provider }) => [accountNamed('main', provider)]);

describe('the balance', () => {
  it('is asked of the service, with no permit taken', async () => {
    const { balances, accounts } = startWithOne();
    expect(await balances.read(wanted)).toEqual(asked);
    expect(accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
  });

  it('is asked once for all who want it at the same time, however long that takes', async () => {
    const { balances, provider, clock } = startWithOne();
    const answers: ((outcome: InquiryOutcome<Balance>) => void)[] = [];
    provider.provider.balance = () => new Promise((resolve) => answers.push(resolve));
    const first = balances.read(wanted);
    await clock.advance(60_000);
    const reading = [first, balances.read(wanted), balances.read(wanted)];
    expect(answers).toHaveLength(1);
    answers[0]?.({ kind: 'accepted', answer: asked.balance });
    expect(await Promise.all(reading)).toEqual([asked, asked, asked]);
  });

  it('is kept for a second from its answer on', async () => {
    const { balances, provider, clock } = startWithOne();
    await balances.read(wanted);
    await clock.advance(999);
    await balances.read(wanted);
    expect(provider.balanceCalls).toBe(1);
    await clock.advance(1);
    await balances.read(wanted);
    expect(provider.balanceCalls).toBe(2);
  });

  it('that could not be read is not kept', async () => {
    const { balances, provider } = startWithOne();
    provider.answersInquiries = false;
    expect(await balances.read(wanted)).toEqual({ kind: 'unavailable' });
    provider.answersInquiries = true;
    expect(await balances.read(wanted)).toEqual(asked);
  });

  it('that is refused is answered so, and not cached', async () => {
    const { balances, provider } = startWithOne();
    const { balance } = provider.provider;
    const errors = [{ code: 'merchant_disabled', kind: 'settings_error' }];
    provider.provider.balance = () => Promise.resolve({ kind: 'refused', errors });
    expect(await balances.read(wanted)).toEqual({ kind: 'refused', errors });
    provider.provider.balance = balance;
    expect(await balances.read(wanted)).toEqual(asked);
  });

  it('is asked again after the connector itself has failed', async () => {
    const { balances, provider } = startWithOne();
    const { balance } = provider.provider;
    provider.provider.balance = () => Promise.reject(new TypeError('broken'));
    await expect(balances.read(wanted)).rejects.toThrow('broken');
    provider.provider.balance = balance;
    expect(await balances.read(wanted)).toEqual(asked);
  });

  it('of each currency is requested separately', async () => {
    const { balances, provider } = startWithOne();
    await balances.read(wanted);
    expect(await balances.read({ ...wanted, currency: 'USD' })).toMatchObject({
      balance: { currency: 'USD' },
    });
    expect(provider.balanceCalls).toBe(2);
  });

  it('is the sum over the accounts that take the payments of this team, in this currency and environment', async () => {
    const { balances, provider } = start(({ provider: each }) => [
      accountNamed('main', each),
      accountNamed('second', each, { priority: 1, currencies: ['EUR'], teams: ['demo'] }),
      accountNamed('of-others', each, { teams: ['others'] }),
      accountNamed('in-dollars', each, { currencies: ['USD'] }),
      accountNamed('real', each, { environment: 'production' }),
      // Of the same name as one that counts.
      accountNamed('main', each, { environment: 'production' }),
    ]);
    const sum = { currency: 'EUR', available: 1_400, hold: 600 };
    expect(await balances.read(wanted)).toEqual({ kind: 'balance', balance: sum });
    expect(provider.balanceCalls).toBe(2);
  });

  it('is unavailable where one of the accounts gives no answer: a part of the sum would be none', async () => {
    const silent = createFakeProvider();
    silent.answersInquiries = false;
    const { balances } = start(({ provider }) => [
      accountNamed('main', provider),
      accountNamed('second', silent.provider),
    ]);
    expect(await balances.read(wanted)).toEqual({ kind: 'unavailable' });
  });

  it('of a team whose currency no account takes is none', async () => {
    const { balances } = start(({ provider }) => [accountNamed('main', provider, { currencies: ['USD'] })]);
    expect(await balances.read(wanted)).toEqual({ kind: 'no-account' });
  });
});
