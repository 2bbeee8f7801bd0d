import { type Account, type Balance, type InquiryOutcome, type Requester } from '@tollgate/core';
import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { accountNamed, caller, createFakeProvider } from '@tollgate/core/testing';
import type { LedgerAmounts } from '@tollgate/books';
import { createBalances } from './balance.ts';
import type { Reservation } from './reservations.ts';
import { createAccounts } from '@tollgate/accounts';

const asked = { kind: 'balance', balance: { currency: 'EUR', available: 700, hold: 300 } };

function start(accountsOf: (provider: ReturnType<typeof createFakeProvider>) => Account[]) {
  const clock = createFakeClock();
  const provider = createFakeProvider();
  const accounts = createAccounts({ accounts: accountsOf(provider), clock, log: silentLog });
  /** The wallet's money by account, and its reservations. */
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
  it('is inquired without a permit', async () => {
    const { balances, accounts } = startWithOne();
    expect(await balances.read()).toEqual(asked);
    expect(accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
  });

  it('is inquired once for all concurrent callers, however long that takes', async () => {
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

  it('is cached for a second after the answer', async () => {
    const { balances, provider, clock } = startWithOne();
    await balances.read();
    await clock.advance(999);
    await balances.read();
    expect(provider.balanceCalls).toBe(1);
    await clock.advance(1);
    await balances.read();
    expect(provider.balanceCalls).toBe(2);
  });

  const errors = [{ code: 'merchant_disabled', kind: 'settings_error' }];
  it.each<[string, () => Promise<InquiryOutcome<Balance>>, object]>([
    ['no answer', async () => ({ kind: 'unknown', reason: 'timeout' }), { kind: 'unavailable' }],
    ['a refusal', async () => ({ kind: 'refused', errors }), { kind: 'refused', errors }],
    ['an adapter that throws', () => Promise.reject(new TypeError('broken')), new TypeError('broken')],
  ])('is inquired again after %s', async (_, answer, expected) => {
    const { balances, provider } = startWithOne();
    const { balance } = provider.provider;
    provider.provider.balance = answer;
    expect(await balances.read().catch((error: unknown) => error)).toEqual(expected);
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

  it("is the sum over the accounts that take this team's payments, in this currency and environment", async () => {
    const { balances, provider } = start(({ provider: each }) => [
      accountNamed('main', each),
      accountNamed('second', each, { priority: 1, currencies: ['EUR'], teams: ['demo'] }),
      accountNamed('of-others', each, { teams: ['others'] }),
      accountNamed('in-dollars', each, { currencies: ['USD'] }),
      accountNamed('real', each, { environment: 'production' }),
      // With the same name as one that counts.
      accountNamed('main', each, { environment: 'production' }),
    ]);
    const sum = { currency: 'EUR', available: 1_400, hold: 600 };
    expect(await balances.read()).toEqual({ kind: 'balance', balance: sum });
    expect(provider.balanceCalls).toBe(2);
  });

  it('is unavailable if one of the accounts does not answer: a partial sum is not a balance', async () => {
    const silent = createFakeProvider();
    silent.answersInquiries = false;
    const { balances } = start(({ provider }) => [
      accountNamed('main', provider),
      accountNamed('second', silent.provider),
    ]);
    expect(await balances.read()).toEqual({ kind: 'unavailable' });
  });

  it('of a team whose currency no account takes does not exist', async () => {
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
  ])("with %o is the minimum of its own and the provider's", async (amounts, expected) => {
    const { balances, wallet } = startWithOne();
    wallet.byAccount = { main: amounts };
    expect(await balances.read(own)).toEqual(expected);
  });

  it('includes reservations that are not recorded yet', async () => {
    const { balances, wallet } = startWithOne();
    wallet.byAccount = { main: { available: 500n } };
    wallet.open = [payout(200, 'main')];
    expect(await balances.read(own)).toEqual(balanceOf(300, { reserved: 200 }));
  });

  it('is the sum over its accounts; money in one that cannot pay out is not settled', async () => {
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

  it('inquires no account without money, and is unavailable if one with money does not answer', async () => {
    const { balances, provider, wallet } = startWithOne();
    provider.answersInquiries = false;
    expect(await balances.read(own)).toEqual(balanceOf(0, {}));
    wallet.byAccount = { main: { available: 1n } };
    expect(await balances.read(own)).toEqual({ kind: 'unavailable' });
  });
});
