/**
 * A team that had taken nothing paid out another team's money: only the balance at the provider bounded a payout, and that
 * is of all teams. The other team's refund then failed.
 */
import { describe, expect, it } from 'vitest';
import { type Requester, type CreatePayoutResult, inquireNamed } from '@tollgate/core';
import {
  createFakeProvider,
  diesAnnounced,
  type Instance,
  accountNamed,
  caller,
  cause,
  payoutFor,
  quietMs,
  keepRecurringToken,
  recurringAlias,
  useHarness,
} from '@tollgate/core/testing';
import { createBalanceGuard } from './positions.ts';
import { positionsOf } from './testing/positions-of.ts';

const other = { provider: createFakeProvider() };
let sharing: string[] = [];
const harness = useHarness(() => {
  other.provider = createFakeProvider();
  sharing = [];
  return {
    moreAccounts: [accountNamed('other', other.provider.provider, { priority: 1 })],
    guardsOf: (core) => [createBalanceGuard(positionsOf(core, sharing))],
  };
});

const shop: Requester = { ...caller, wallet: { kind: 'own' } };
const stranger: Requester = { ...shop, team: 'stranger' };

/** A payout of 500 EUR unless it is said otherwise. */
const payOut = (orderNumber: string, by: Requester = shop, amount = 500, instance: Instance = harness()) => {
  const { request, ...rest } = payoutFor(orderNumber);
  return instance.payOut({ ...rest, caller: by, request: { ...request, amount } });
};
const exceeds = (availableAmount: number) => ({
  kind: 'refused',
  refusal: { code: 'payout_exceeds_position', availableAmount, currency: 'EUR' },
});
const phaseOf = (result: CreatePayoutResult) =>
  result.kind === 'answered' ? result.aggregate.payout.phase : JSON.stringify(result);
const balanceOf = (by: Requester) => positionsOf(harness(), sharing).balance(by, 'EUR');

describe('a payout is bounded by what its team', () => {
  it('has taken: another team, currency or environment has nothing of it', async () => {
    await harness().approved('order-1', 500);
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

  it('has not given back, confirmed or under way', async () => {
    const token = await harness().approved('order-1', 500);
    await harness().refund(token, 'a', 100);
    expect(await payOut('payout-1', shop, 401)).toEqual(exceeds(400));
    harness().provider.faultsOf.refund.push({ kind: 'lost-before' });
    await harness().refund(token, 'b', 50);
    expect(await payOut('payout-1', shop, 351)).toEqual(exceeds(350));
    expect(await balanceOf(shop)).toEqual({ available: 350n, hold: 50n });
  });

  it('has not given back elsewhere: below nothing there is no payout', async () => {
    const token = await harness().approved('order-1', 500);
    expect(phaseOf(await payOut('payout-1'))).toBe('approved');
    const { providerOrderNumber } = (await harness().payments.load(token))!.payment.attempt;
    harness().provider.change(providerOrderNumber, { refundedAmount: 200 });
    await harness().inquire(token);
    expect(await balanceOf(shop)).toEqual({ available: -200n, hold: 0n });
    expect(await payOut('payout-2', shop, 1)).toEqual(exceeds(0));
  });

  it('has not paid out: what failed or was declined is there again, what is unknown is not', async () => {
    await harness().approved('order-1', 500);
    harness().provider.faultsOf.payout.push({ kind: 'lost-before' });
    const lost = await payOut('payout-1');
    expect(phaseOf(lost)).toBe('unresolved');
    expect(await payOut('payout-2')).toEqual(exceeds(0));
    expect(await balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
    await harness().clock.advance(quietMs);
    const { token } = lost.kind === 'answered' ? lost.aggregate : { token: '' };
    await harness().inquire(token);
    await harness().resolve({ token, code: 'payout_not_found', resolution: 'payout_not_made' });
    harness().provider.faultsOf.payout.push({ kind: 'not-sent' });
    expect(phaseOf(await payOut('payout-3'))).toBe('failed');
    harness().provider.payoutStatus = 'declined';
    expect(phaseOf(await payOut('payout-4'))).toBe('declined');
    harness().provider.payoutStatus = 'approved';
    expect(phaseOf(await payOut('payout-5'))).toBe('approved');
  });

  // 1,000 were taken, and a payout of 500 was delivered twice on its way. That was known, its review was open, and another 500
  // were paid out: 1,500 of 1,000.
  it('has not paid out twice: what went out a second time is reserved, whatever a key of the team answers', async () => {
    await harness().approved('order-1', 1_000);
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
  it('one is chosen that has enough', async () => {
    await harness().approved('order-1', 300);
    const otherOnly = harness().startInstance({ accounts: [accountNamed('other', other.provider.provider)] });
    const created = await otherOnly.create({ ...payoutFor('order-2'), caller: shop, request: tea });
    if (created.kind !== 'answered') throw new Error(created.kind);
    other.provider.change(created.aggregate.payment.attempt.providerOrderNumber, { status: 'approved' });
    await otherOnly.inquire(created.aggregate.token);
    expect(await payOut('payout-1', shop, 501)).toEqual(exceeds(500));
    expect(phaseOf(await payOut('payout-1', shop, 400))).toBe('approved');
    expect(other.provider.payoutRequests).toHaveLength(1);
    expect(phaseOf(await payOut('payout-2', shop, 300))).toBe('approved');
    expect(harness().provider.payoutRequests).toHaveLength(1);
  });

  it('that of a recurring token must have it', async () => {
    await harness().approved('order-1', 500);
    await keepRecurringToken(harness(), { account: 'other' });
    const input = { ...payoutFor('payout-1', { recurringToken: recurringAlias }), caller: shop };
    expect(await harness().payOut(input)).toEqual(exceeds(0));
  });
});

const tea = { product: 'Tea', amount: 500, currency: 'EUR', orderNumber: 'order-2' };

describe('a wallet', () => {
  it('that is shared bounds the teams together', async () => {
    await harness().approved('order-1', 700);
    const wallet = { kind: 'shared' as const, name: 'group' };
    const [one, two] = [
      { ...shop, wallet },
      { ...stranger, wallet },
    ];
    sharing.push('demo', 'stranger');
    expect(phaseOf(await payOut('payout-1', two))).toBe('approved');
    expect(await payOut('payout-1', one)).toEqual(exceeds(200));
    expect(await balanceOf(one)).toEqual({ available: 200n, hold: 0n });
    expect(await payOut('payout-2', stranger, 1)).toEqual(exceeds(0));
  });

  it("of the provider's balance bounds nothing here", async () => {
    expect(phaseOf(await payOut('payout-1', { ...stranger, wallet: { kind: 'provider' } }))).toBe('approved');
  });
});

it('fifty payouts at once of two processes never pass what was taken, and take all of it', async () => {
  await harness().approved('order-1', 10_000);
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
    const dying = harness().startInstance({
      dies: true,
      wrapStore: (store) => ({
        ...store,
        append: (stream, ...rest) =>
          stream.startsWith('payout-') ? new Promise(() => undefined) : store.append(stream, ...rest),
      }),
    });
    void payOut('payout-1', shop, 500, dying);
    return expect.poll(() => balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
  };

  it('between the reservation and the announcement: a repeat is sent, and reserves nothing more', async () => {
    await harness().approved('order-1', 500);
    await diesBeforeAnnouncement();
    expect(await payOut('payout-2')).toEqual(exceeds(0));
    expect(phaseOf(await payOut('payout-1'))).toBe('approved');
    expect(await balanceOf(shop)).toEqual({ available: 0n, hold: 0n });
  });

  it('there, without a repeat: the reservation ends when its payout cannot be sent any more', async () => {
    await harness().approved('order-1', 500);
    await diesBeforeAnnouncement();
    await harness().clock.advance(quietMs);
    expect(phaseOf(await payOut('payout-2'))).toBe('approved');
  });

  it('after the announcement: the payout counts until it is known what became of it', async () => {
    await harness().approved('order-1', 500);
    const dying = harness().startInstance({ dies: true, wrapStore: diesAnnounced() });
    void payOut('payout-1', shop, 500, dying);
    await expect.poll(() => harness().onDisk()).toContain('PayoutRequested');
    await harness().clock.advance(quietMs);
    await expect.poll(() => balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
    expect(await payOut('payout-2')).toEqual(exceeds(0));
  });
});

it('a repeat of what was accepted is answered, whatever is left by then', async () => {
  await harness().approved('order-1', 500);
  expect(phaseOf(await payOut('payout-1'))).toBe('approved');
  expect(await payOut('payout-1')).toMatchObject({ kind: 'answered', replayed: true });
  const another = harness().startInstance();
  expect(await payOut('payout-1', shop, 500, another)).toMatchObject({ kind: 'answered', replayed: true });
  expect(harness().provider.payoutRequests).toHaveLength(1);
});

it('a process that wakes up when its reservation has ended announces its payout, and sends nothing', async () => {
  await harness().approved('order-1', 500);
  const awake = Promise.withResolvers<undefined>();
  const sleeping = harness().startInstance({
    wrapStore: (store) => ({
      ...store,
      async append(stream, ...rest) {
        if (stream.startsWith('payout-')) await awake.promise;
        return store.append(stream, ...rest);
      },
    }),
  });
  const late = payOut('payout-1', shop, 500, sleeping);
  await expect.poll(() => balanceOf(shop)).toEqual({ available: 0n, hold: 500n });
  await harness().clock.advance(quietMs);
  expect(phaseOf(await payOut('payout-2'))).toBe('approved');
  awake.resolve(undefined);
  expect(phaseOf(await late)).toBe('failed');
  expect(harness().provider.payoutRequests).toHaveLength(1);
  expect(await balanceOf(shop)).toEqual({ available: 0n, hold: 0n });
});
