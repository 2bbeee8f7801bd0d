import {
  type Account,
  type Balance,
  createAccounts,
  type InquiryOutcome,
  type LedgerAmounts,
  type Requester,
} from '@tollgate/core';
import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { accountNamed, caller, createFakeProvider } from '@tollgate/core/testing';
import { createBalances } from './balance.ts';
import type { Reservation } from './reservations.ts';

const asked = { kind: 'balance', balance: { currency: 'EUR', available: 700, hold: 300 } };

function start(accountsOf: (provider: ReturnType<typeof createFakeProvider>) => Account[]) {
  const clock = createFakeClock();
  const provider = createFakeProvider();
  const accounts = createAccounts({ accounts: accountsOf(provider), clock, log: silentLog });
  /** What the wallet has, by account, and what is reserved in it. */
  const wallet = { byAccount: {} as Record<string, LedgerAmounts>, open: [] as Reservation[] };
  const reservations = {
    read: async () => ({
      ledger: {
        byAccount: new Map(Object.entries(wallet.byAccount)),
        recorded: new Set<string>(),
        spentOf: () => 0n,
      },
      open: wallet.open,
    }),
    decide: () => Promise.reject(new Error('a balance reserves nothing')),
  };
  const balances = createBalances({ accounts, clock, reservations });
  const read = (by: Requester = caller, currency = 'EUR') => balances.read(by, currency);
  return { clock, provider, accounts, wallet, balances: { read } };
}
const startWithOne = () => start(({ provider }) => [accountNamed('main', provider)]);

describe('the balance of the provider', () => {
  it('is asked of the service, with no permit taken', async () => {
    const { balances, accounts } = startWithOne();
    expect(await balances.read()).toEqual(asked);
    expect(accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
  });

  it('is asked once for all who want it at the same time, however long that takes', async () => {
    const { balances, provider, clock } = startWithOne();
    const answers: ((outcome: InquiryOutcome<Balance>) => void)[] = [];
    provider.provider.balance = () => new Promise((resolve) => answers.push(resolve));
    const first = balances.read();
    await clock.advance(60_000);
    const reading = [first, balances.read(), balances.read()];
    expect(answers).toHaveLength(1);
    answers[0]?.({ kind: 'accepted', answer: asked.balance });
    expect(await Promise.all(reading)).toEqual([asked, asked, asked]);
  });

  it('is kept for a second from its answer on', async () => {
    const { balances, provider, clock } = startWithOne();
    await balances.read();
    await clock.advance(999);
    await balances.read();
    expect(provider.balanceCalls).toBe(1);
    await clock.advance(1);
    await balances.read();
    expect(provider.balanceCalls).toBe(2);
  });

  it('that could not be read is not kept', async () => {
    const { balances, provider } = startWithOne();
    provider.answersInquiries = false;
    expect(await balances.read()).toEqual({ kind: 'unavailable' });
    provider.answersInquiries = true;
    expect(await balances.read()).toEqual(asked);
  });

  it('that is refused is answered so, and not cached', async () => {
    const { balances, provider } = startWithOne();
    const { balance } = provider.provider;
    const errors = [{ code: 'merchant_disabled', kind: 'settings_error' }];
    provider.provider.balance = () => Promise.resolve({ kind: 'refused', errors });
    expect(await balances.read()).toEqual({ kind: 'refused', errors });
    provider.provider.balance = balance;
    expect(await balances.read()).toEqual(asked);
  });

  it('is asked again after the connector itself has failed', async () => {
    const { balances, provider } = startWithOne();
    const { balance } = provider.provider;
    provider.provider.balance = () => Promise.reject(new TypeError('broken'));
    await expect(balances.read()).rejects.toThrow('broken');
    provider.provider.balance = balance;
    expect(await balances.read()).toEqual(asked);
  });

  it('of each currency is requested separately', async () => {
    const { balances, provider } = startWithOne();
    await balances.read();
    expect(await balances.read(caller, 'USD')).toMatchObject({
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
    expect(await balances.read()).toEqual({ kind: 'balance', balance: sum });
    expect(provider.balanceCalls).toBe(2);
  });

  it('is unavailable where one of the accounts gives no answer: a part of the sum would be none', async () => {
    const silent = createFakeProvider();
    silent.answersInquiries = false;
    const { balances } = start(({ provider }) => [
      accountNamed('main', provider),
      accountNamed('second', silent.provider),
    ]);
    expect(await balances.read()).toEqual({ kind: 'unavailable' });
  });

  it('of a team whose currency no account takes is none', async () => {
    const { balances } = start(({ provider }) => [accountNamed('main', provider, { currencies: ['USD'] })]);
    expect(await balances.read()).toEqual({ kind: 'no-account' });
  });
});

describe('the balance of a wallet', () => {
  const own: Requester = { ...caller, wallet: { kind: 'own' } };
  const balanceOf = (
    available: number,
    parts: { reserved?: number; disputed?: number; notSettled?: number },
  ) => {
    const { reserved = 0, disputed = 0, notSettled = 0 } = parts;
    const hold = reserved + disputed + notSettled;
    return {
      kind: 'balance',
      balance: { currency: 'EUR', available, hold, reserved, disputed, notSettled },
    };
  };
  const payout = (amount: number, account: string): Reservation => ({
    token: `po_${amount}`,
    subject: `po_${amount}`,
    operation: 'payout',
    team: 'demo',
    keyId: 'k',
    account,
    amount,
    day: '2026-01-01',
    fingerprint: 'f',
  });

  // M10: 50,600 were shown as available, the provider had 0 available and 50,600 on hold, and the payout was refused.
  it.each([
    [{ available: 500n }, balanceOf(500, {})],
    // The provider has 700 available.
    [{ available: 900n }, balanceOf(700, { notSettled: 200 })],
    [{ available: 100n, reserved: 30n, disputed: 20n }, balanceOf(100, { reserved: 30, disputed: 20 })],
    [{ available: -50n, disputed: 20n }, balanceOf(-50, { disputed: 20 })],
  ])('with %o is what it and the provider both have', async (amounts, expected) => {
    const { balances, wallet } = startWithOne();
    wallet.byAccount = { main: amounts };
    expect(await balances.read(own)).toEqual(expected);
  });

  it('counts what is reserved and not recorded yet as reserved', async () => {
    const { balances, wallet } = startWithOne();
    wallet.byAccount = { main: { available: 500n } };
    wallet.open = [payout(200, 'main')];
    expect(await balances.read(own)).toEqual(balanceOf(300, { reserved: 200 }));
  });

  it('is the sum over its accounts; what it has in one that cannot pay out is not settled', async () => {
    const { balances, wallet } = start(({ provider }) => [
      accountNamed('main', provider),
      accountNamed('second', provider, { priority: 1 }),
      accountNamed('of-others', provider, { teams: ['others'] }),
    ]);
    wallet.byAccount = {
      main: { available: 900n },
      second: { available: 100n },
      'of-others': { available: 40n },
    };
    expect(await balances.read(own)).toEqual(balanceOf(800, { notSettled: 240 }));
  });

  it('asks no account in which nothing is left, and is unavailable if one that has something is silent', async () => {
    const { balances, provider, wallet } = startWithOne();
    provider.answersInquiries = false;
    expect(await balances.read(own)).toEqual(balanceOf(0, {}));
    wallet.byAccount = { main: { available: 1n } };
    expect(await balances.read(own)).toEqual({ kind: 'unavailable' });
  });
});
