/**
 * A team without income paid out another team's money: only the balance at the provider limited a payout, and all teams share
 * that. The other team's refund then failed.
 */
import { describe, expect, it } from 'vitest';
import { type CreatePayoutResult, inquireNamed, type Requester } from '@tollgate/core';
import {
  createFakeProvider,
  diesAnnounced,
  type Instance,
  accountNamed,
  answered,
  caller,
  cause,
  payoutFor,
  quietMs,
  keepRecurringToken,
  recurringAlias,
  useHarness,
} from '@tollgate/core/testing';
import { createBalanceAndLimitGuard } from './balance-and-limit-guard.ts';
import { holding } from './testing/held-store.ts';
import { balanceOf as walletBalanceOf, reservationsOf } from './testing/reservations-of.ts';

const other = { provider: createFakeProvider() };
const harness = useHarness(() => {
  other.provider = createFakeProvider();
  return {
    moreAccounts: [accountNamed('other', other.provider.provider, { priority: 1 })],
    guardsOf: (core) => [createBalanceAndLimitGuard(reservationsOf(core))],
  };
});

const shop: Requester = { ...caller, wallet: { kind: 'own' } };
const stranger: Requester = { ...shop, team: 'stranger' };

/** A payout of 500 EUR by default. */
const payOut = (orderNumber: string, by: Requester = shop, amount = 500, instance: Instance = harness()) => {
  const { request, ...rest } = payoutFor(orderNumber);
  return instance.payOut({ ...rest, caller: by, request: { ...request, amount } });
};
const exceeds = (availableAmount: number) => ({
  kind: 'refused',
  refusal: { code: 'payout_exceeds_balance', availableAmount, currency: 'EUR' },
});
const phaseOf = (result: CreatePayoutResult) =>
  result.kind === 'answered' ? result.aggregate.payout.phase : JSON.stringify(result);

/** A payment approved by the provider, in its team's wallet. */
const approved = (orderNumber: string, amount: number, by: Requester = shop) =>
  harness().approved(orderNumber, amount, by);
const balanceOf = (by: Requester) => walletBalanceOf(harness(), by);

describe('a payout is limited to what its team', () => {
  it('has taken: another team, currency or environment does not count', async () => {
    await approved('order-1', 500);
    expect(await payOut('payout-1', stranger)).toEqual(exceeds(0));
    expect(await payOut('payout-1', shop, 501)).toEqual(exceeds(500));
    const inDollars = payoutFor('payout-1');
    const { request } = inDollars;
    expect(
      await harness().payOut({ ...inDollars, caller: shop, request: { ...request, currency: 'USD' } }),
    ).toMatchObject({ refusal: { availableAmount: 0, currency: 'USD' } });
    expect(harness().provider.payoutRequests).toEqual([]);
    expect(phaseOf(await payOut('payout-1'))).toBe('approved');
    expect(await payOut('payout-2', shop, 1)).toEqual(exceeds(0));
  });

  // 1,000 were taken, and a payout of 500 was delivered twice. That was known, its review was open, and another 500 were paid
  // out:
  // 1,500 of 1,000.
  it('has not paid out twice: a second delivery stays reserved after any resolution by a key of the team', async () => {
    await approved('order-1', 1_000);
    const first = await payOut('payout-1');
    const token = first.kind === 'answered' ? first.aggregate.token : '';
    const { payouts } = harness().provider;
    const [made] = payouts.values();
    payouts.set('service-payout-twice', { ...made!, serviceToken: 'service-payout-twice' });
    await inquireNamed(harness().inside, token, 'service-payout-twice', cause);
    expect((await harness().payouts.load(token))?.payout.reviews).toMatchObject([
      { evidence: { kind: 'second_payout_found', observedStatus: 'approved', observedAmount: 500 } },
    ]);
    expect(await balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
    expect(await payOut('payout-2')).toEqual(exceeds(0));
    expect([...payouts.values()].reduce((sum, { amount }) => sum + amount, 0)).toBe(1_000);
    await harness().resolve({ token, code: 'discrepancy', resolution: 'keep_ours' });
    expect(await balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
  });
});

describe('of several accounts', () => {
  it('one with enough money is chosen', async () => {
    await approved('order-1', 300);
    const otherOnly = harness().startInstance({ accounts: [accountNamed('other', other.provider.provider)] });
    const created = await otherOnly.create({ ...payoutFor('order-2'), caller: shop, request: tea });
    const { token, payment } = answered(created);
    other.provider.change(payment.attempt.providerOrderNumber, { status: 'approved' });
    await otherOnly.inquire(token);
    expect(await payOut('payout-1', shop, 501)).toEqual(exceeds(500));
    expect(phaseOf(await payOut('payout-1', shop, 400))).toBe('approved');
    expect(other.provider.payoutRequests).toHaveLength(1);
    expect(phaseOf(await payOut('payout-2', shop, 300))).toBe('approved');
    expect(harness().provider.payoutRequests).toHaveLength(1);
  });

  it('the one of the recurring token must have it', async () => {
    await approved('order-1', 500);
    await keepRecurringToken(harness(), { account: 'other' });
    const input = { ...payoutFor('payout-1', { recurringToken: recurringAlias }), caller: shop };
    expect(await harness().payOut(input)).toEqual(exceeds(0));
  });
});

const tea = { product: 'Tea', amount: 500, currency: 'EUR', orderNumber: 'order-2' };

const group = { kind: 'shared' as const, name: 'group' };
const [shopInGroup, strangerInGroup] = [
  { ...shop, wallet: group },
  { ...stranger, wallet: group },
];

describe('a wallet', () => {
  it('that is shared limits the teams together', async () => {
    await approved('order-1', 700, shopInGroup);
    expect(phaseOf(await payOut('payout-1', strangerInGroup))).toBe('approved');
    expect(await payOut('payout-1', shopInGroup)).toEqual(exceeds(200));
    expect(await balanceOf(shopInGroup)).toEqual({ available: 200n, hold: 0n });
    expect(await payOut('payout-2', stranger, 1)).toEqual(exceeds(0));
  });

  it("of the provider's balance has no limit here", async () => {
    expect(phaseOf(await payOut('payout-1', { ...stranger, wallet: { kind: 'provider' } }))).toBe('approved');
  });

  // M1: a team left a shared wallet and took along money that the others had paid out; a third team paid for it.
  it('is that of the payment at its request, even if its team changes wallets', async () => {
    await approved('order-1', 1_000, shopInGroup);
    await approved('order-2', 300, shop);
    expect(phaseOf(await payOut('payout-1', strangerInGroup, 1_000))).toBe('approved');
    expect(await payOut('payout-2', shop, 1_000)).toEqual(exceeds(300));
    expect(await payOut('payout-2', shopInGroup, 300)).toEqual(exceeds(0));
    expect(phaseOf(await payOut('payout-2', shop, 300))).toBe('approved');
  });

  // M8: two processes had the team under different wallets at the same moment, and paid out one balance twice.
  it('is used alone while processes disagree about the wallet of a team', async () => {
    await approved('order-1', 1_000);
    const { wrapStore, reached, letGo } = holding('payout-');
    const first = payOut('payout-1', shop, 1_000, harness().startInstance({ wrapStore }));
    await reached;
    expect(await payOut('payout-2', shopInGroup, 1_000)).toEqual(exceeds(0));
    letGo();
    expect(phaseOf(await first)).toBe('approved');
    expect(harness().provider.payouts.size).toBe(1);
  });
});

it('fifty concurrent payouts of two processes never exceed the balance, and use all of it', async () => {
  await approved('order-1', 10_000);
  const processes = [harness(), harness().startInstance()];
  const paying = Array.from({ length: 50 }, (_, index) =>
    payOut(`payout-${index}`, shop, 700, processes[index % 2]),
  );
  const phases = (await Promise.all(paying)).map(phaseOf);
  expect(phases.filter((phase) => phase === 'approved')).toHaveLength(14);
  expect(phases.filter((phase) => phase === JSON.stringify(exceeds(200)))).toHaveLength(36);
  expect(harness().provider.payoutRequests).toHaveLength(14);
  expect(await balanceOf(shop)).toEqual({ available: 200n, hold: 0n });
});

describe('a process that dies', () => {
  const diesBeforeAnnouncement = () => {
    const dying = harness().startInstance({ dies: true, wrapStore: holding('payout-').wrapStore });
    void payOut('payout-1', shop, 500, dying);
    return expect.poll(() => balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
  };

  it('between the reservation and the announcement: a repeat is sent, and reserves nothing more', async () => {
    await approved('order-1', 500);
    await diesBeforeAnnouncement();
    expect(await payOut('payout-2')).toEqual(exceeds(0));
    expect(phaseOf(await payOut('payout-1'))).toBe('approved');
    expect(await balanceOf(shop)).toEqual({ available: 0n, hold: 0n });
  });

  it('there, without a repeat: the reservation lapses when its payout can no longer be sent', async () => {
    await approved('order-1', 500);
    await diesBeforeAnnouncement();
    await harness().clock.advance(quietMs);
    expect(phaseOf(await payOut('payout-2'))).toBe('approved');
  });

  it('after the announcement: the payout counts until its outcome is known', async () => {
    await approved('order-1', 500);
    const dying = harness().startInstance({ dies: true, wrapStore: diesAnnounced() });
    void payOut('payout-1', shop, 500, dying);
    await expect.poll(() => harness().onDisk()).toContain('PayoutRequested');
    await harness().clock.advance(quietMs);
    await expect.poll(() => balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
    expect(await payOut('payout-2')).toEqual(exceeds(0));
  });
});

it('a repeat of an accepted payout is answered at any later balance', async () => {
  await approved('order-1', 500);
  expect(phaseOf(await payOut('payout-1'))).toBe('approved');
  expect(await payOut('payout-1')).toMatchObject({ kind: 'answered', replayed: true });
  const another = harness().startInstance();
  expect(await payOut('payout-1', shop, 500, another)).toMatchObject({ kind: 'answered', replayed: true });
  expect(harness().provider.payoutRequests).toHaveLength(1);
});

it('a process that wakes up after its reservation has lapsed announces its payout, and sends nothing', async () => {
  await approved('order-1', 500);
  const { wrapStore, letGo } = holding('payout-');
  const late = payOut('payout-1', shop, 500, harness().startInstance({ wrapStore }));
  await expect.poll(() => balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
  await harness().clock.advance(quietMs);
  expect(phaseOf(await payOut('payout-2'))).toBe('approved');
  letGo();
  expect(phaseOf(await late)).toBe('failed');
  expect(harness().provider.payoutRequests).toHaveLength(1);
  expect(await balanceOf(shop)).toEqual({ available: 0n, hold: 0n });
});
