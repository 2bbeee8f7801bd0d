import type { CallOutcome, ServiceBalance } from '@tollgate/payment-api';
import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import type { Account } from '../accounts/account.ts';
import { createAccounts } from '../accounts/accounts.ts';
import { createFakePaymentService } from '../testing/fake-payment-service.ts';
import { accountNamed } from '../testing/harness.ts';
import { createBalances } from './balance.ts';

const wanted = { environment: 'sandbox', team: 'demo', currency: 'EUR' } as const;
const asked = { kind: 'balance', balance: { currency: 'EUR', available: 700, hold: 300 } };

function start(accountsOf: (provider: ReturnType<typeof createFakePaymentService>) => Account[]) {
  const clock = createFakeClock();
  const provider = createFakePaymentService();
  const accounts = createAccounts({ accounts: accountsOf(provider), clock, log: silentLog });
  return { clock, provider, accounts, balances: createBalances({ accounts, clock }) };
}
const startWithOne = () => start(({ client }) => [accountNamed('main', client)]);

describe('the balance', () => {
  it('is asked of the service, with no permit taken', async () => {
    const { balances, accounts } = startWithOne();
    expect(await balances.read(wanted)).toEqual(asked);
    expect(accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
  });

  it('is asked once for all who want it at the same time, however long that takes', async () => {
    const { balances, provider, clock } = startWithOne();
    const answers: ((outcome: CallOutcome<ServiceBalance>) => void)[] = [];
    provider.client.retrieveBalance = () => new Promise((resolve) => answers.push(resolve));
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

  it('that is refused is told so, and not kept', async () => {
    const { balances, provider } = startWithOne();
    const { retrieveBalance } = provider.client;
    const errors = [{ code: 'merchant_disabled', kind: 'settings_error' }];
    provider.client.retrieveBalance = () => Promise.resolve({ kind: 'refused', errors });
    expect(await balances.read(wanted)).toEqual({ kind: 'refused', errors });
    provider.client.retrieveBalance = retrieveBalance;
    expect(await balances.read(wanted)).toEqual(asked);
  });

  it('is asked again after the connector itself has failed', async () => {
    const { balances, provider } = startWithOne();
    const { retrieveBalance } = provider.client;
    provider.client.retrieveBalance = () => Promise.reject(new TypeError('broken'));
    await expect(balances.read(wanted)).rejects.toThrow('broken');
    provider.client.retrieveBalance = retrieveBalance;
    expect(await balances.read(wanted)).toEqual(asked);
  });

  it('of each currency is asked for by itself', async () => {
    const { balances, provider } = startWithOne();
    await balances.read(wanted);
    expect(await balances.read({ ...wanted, currency: 'USD' })).toMatchObject({
      balance: { currency: 'USD' },
    });
    expect(provider.balanceCalls).toBe(2);
  });

  it('is the sum over the accounts that take the payments of this team, in this currency and environment', async () => {
    const { balances, provider } = start(({ client }) => [
      accountNamed('main', client),
      accountNamed('second', client, { priority: 1, currencies: ['EUR'], teams: ['demo'] }),
      accountNamed('of-others', client, { teams: ['others'] }),
      accountNamed('in-dollars', client, { currencies: ['USD'] }),
      accountNamed('real', client, { environment: 'production' }),
      // Of the same name as one that counts.
      accountNamed('main', client, { environment: 'production' }),
    ]);
    const sum = { currency: 'EUR', available: 1_400, hold: 600 };
    expect(await balances.read(wanted)).toEqual({ kind: 'balance', balance: sum });
    expect(provider.balanceCalls).toBe(2);
  });

  it('is unavailable where one of the accounts gives no answer: a part of the sum would be none', async () => {
    const silent = createFakePaymentService();
    silent.answersInquiries = false;
    const { balances } = start(({ client }) => [
      accountNamed('main', client),
      accountNamed('second', silent.client),
    ]);
    expect(await balances.read(wanted)).toEqual({ kind: 'unavailable' });
  });

  it('of a team whose currency no account takes is none', async () => {
    const { balances } = start(({ client }) => [accountNamed('main', client, { currencies: ['USD'] })]);
    expect(await balances.read(wanted)).toEqual({ kind: 'no-account' });
  });
});
