import type { Requester, MoneyLimit } from '@tollgate/core';
import { readLast } from '@tollgate/event-store';
import { describe, expect, it } from 'vitest';
import { type Instance, caller, card, payoutFor, quietMs, teaFor, useHarness } from '@tollgate/core/testing';
import { createBalanceAndLimitGuard } from './balance-and-limit-guard.ts';
import { holding } from './testing/held-store.ts';
import { reservationsOf } from './testing/reservations-of.ts';

const harness = useHarness(() => ({
  guardsOf: (core) => [createBalanceAndLimitGuard(reservationsOf(core))],
}));

const limitOf = (
  operation: MoneyLimit['operation'],
  perCall: number | null,
  perDay: number | null,
  keyId?: string,
): MoneyLimit => ({
  environment: 'sandbox',
  operation,
  currency: 'EUR',
  perCall,
  perDay,
  ...(keyId === undefined ? {} : { keyId }),
});
const limited = (...limits: MoneyLimit[]): Requester => ({ ...caller, limits });
const create = (orderNumber: string, amount: number, by: Requester, instance: Instance = harness()) =>
  instance.create({ ...teaFor(orderNumber, amount), caller: by });
const payOut = (orderNumber: string, amount: number, by: Requester, instance: Instance = harness()) => {
  const { request, ...rest } = payoutFor(orderNumber);
  return instance.payOut({ ...rest, caller: by, request: { ...request, amount } });
};
const codeOf = (result: { kind: string; refusal?: { code: string } }) => result.refusal?.code ?? result.kind;
const startHolding = (...[prefix, when, type]: Parameters<typeof holding>) => {
  const { wrapStore, ...held } = holding(prefix, when, type);
  return { ...held, instance: harness().startInstance({ wrapStore }) };
};
/** A process that dies as it announces a payment. */
const startDying = () => harness().startInstance({ dies: true, wrapStore: holding('payment-').wrapStore });
/** How often the reservations of the wallet were written. */
const written = async () => {
  const last = await readLast(harness().store, 'reservations-sandbox-EUR-provider');
  return last === undefined ? 0 : last.revision + 1;
};

it('a team without a limit, or with another kind of limit, reserves nothing', async () => {
  await create('order-1', 100, caller);
  await create(
    'order-2',
    100,
    limited(limitOf('refund', 1, 1), { ...limitOf('payment', 1, 1), currency: 'USD' }),
  );
  expect(await written()).toBe(0);
});

it('one call is limited: nothing is recorded or sent, and the key stays unused', async () => {
  const by = limited(limitOf('payment', 100, null));
  expect(await create('order-1', 101, by)).toEqual({
    kind: 'refused',
    refusal: { code: 'amount_limit_exceeded', of: 'team', operation: 'payment', currency: 'EUR', limit: 100 },
  });
  expect(codeOf(await create('order-1', 100, by))).toBe('answered');
  expect(harness().provider.received).toHaveLength(1);
});

describe('the sum of a day', () => {
  it('is separate for payments, refunds and payouts, and restarts at midnight UTC', async () => {
    const by = limited(
      limitOf('payment', null, 450),
      limitOf('refund', null, 60),
      limitOf('payout', null, 50),
    );
    const token = await harness().approved('paid', 200);
    expect(codeOf(await create('order-1', 200, by))).toBe('answered');
    expect(codeOf(await create('order-2', 51, by))).toBe('daily_limit_exceeded');
    expect(codeOf(await harness().refund(token, 'a', 50, by))).toBe('answered');
    expect(codeOf(await harness().refund(token, 'b', 11, by))).toBe('daily_limit_exceeded');
    expect(codeOf(await harness().refund(token, 'c', undefined, by))).toBe('daily_limit_exceeded');
    expect(codeOf(await payOut('payout-1', 51, by))).toBe('daily_limit_exceeded');
    expect(codeOf(await payOut('payout-1', 50, by))).toBe('answered');
    await harness().clock.advance(86_400_000);
    expect(codeOf(await create('order-2', 51, by))).toBe('answered');
  });

  it('is never exceeded by fifty concurrent requests of two processes, and can be used up', async () => {
    const by = limited(limitOf('payout', null, 10_000));
    const processes = [harness(), harness().startInstance()];
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => payOut(`payout-${index}`, 700, by, processes[index % 2])),
    );
    expect(results.map(codeOf).filter((code) => code === 'answered')).toHaveLength(14);
    expect(harness().provider.payoutRequests).toHaveLength(14);
  });

  // M9: requests before the limit was set did not count.
  it('counts the whole day, including requests before the limit was set', async () => {
    expect(codeOf(await payOut('morning', 900, caller))).toBe('answered');
    const noon = limited(limitOf('payout', null, 1_000));
    expect(await payOut('afternoon', 900, noon)).toMatchObject({
      refusal: { code: 'daily_limit_exceeded', left: { amount: 100 } },
    });
    expect(codeOf(await payOut('evening', 100, noon))).toBe('answered');
  });

  it('counts a repeat once, even at another process and on another day', async () => {
    const by = limited(limitOf('payment', null, 100));
    await create('order-1', 100, by);
    expect(codeOf(await create('order-1', 100, by))).toBe('answered');
    await harness().clock.advance(86_400_000);
    expect(codeOf(await create('order-1', 100, by, harness().startInstance()))).toBe('answered');
    expect(codeOf(await create('order-2', 100, by))).toBe('answered');
  });

  it('gets the reservation of a process back that died before it announced', async () => {
    const by = limited(limitOf('payment', null, 100));
    void create('order-1', 100, by, startDying());
    await expect.poll(written).toBe(1);
    expect(codeOf(await create('order-2', 100, by))).toBe('daily_limit_exceeded');
    await harness().clock.advance(quietMs);
    expect(codeOf(await create('order-2', 100, by))).toBe('answered');
  });

  it('of a team and of a key both count: a refusal by the second does not use up the first', async () => {
    const ofKey = limitOf('payment', null, 50, 'k');
    const by = limited(limitOf('payment', null, 100), ofKey);
    expect(await create('order-1', 60, by)).toMatchObject({ refusal: { of: 'key', left: { amount: 50 } } });
    const other = { ...limited(limitOf('payment', null, 100)), keyId: 'other' };
    expect(codeOf(await create('order-2', 100, other))).toBe('answered');
  });

  // A team paid 6,000 under a limit of 1,600 a day: each request of 500 had a repeat under the same key with another amount,
  // and
  // the reservation of the repeat replaced that of the 500.
  it('counts the first of several requests under one key with different terms; the others wait', async () => {
    const by = limited(limitOf('payment', null, 100));
    const { instance, letGo } = startHolding('payment-');
    const first = create('order-1', 60, by, instance);
    await expect.poll(written).toBe(1);
    await harness().clock.advance(1);
    const other = await create('order-1', 1, by, startDying());
    expect(codeOf(other)).toBe('operation_in_progress');
    letGo();
    expect(codeOf(await first)).toBe('answered');
    expect(codeOf(await create('order-2', 60, by))).toBe('daily_limit_exceeded');
  });

  it('keeps the reservation of one key if another key may not request the same', async () => {
    const ofTeam = limitOf('payment', null, 100);
    const [free, bound] = [limited(ofTeam), limited(ofTeam, limitOf('payment', null, 10, 'bound'))];
    await Promise.all([free, bound, bound].map((by) => create('order-1', 60, by)));
    expect(harness().provider.received).toHaveLength(1);
    expect(codeOf(await create('order-2', 60, free))).toBe('daily_limit_exceeded');
  });
});

const refundedOf = async (...tokens: string[]) => {
  const payments = await Promise.all(tokens.map((token) => harness().payments.load(token)));
  return payments.map((found) => found?.payment.refundedAmount);
};

describe('a refund of all that is left, under a limit', () => {
  /** A refund of everything that the provider has refused, which takes a moment to be recorded. */
  async function underWay(token: string, by: Requester) {
    const { instance, reached, letGo } = startHolding('payment-', 'before', 'RefundDeclined');
    const refused = { kind: 'refused', code: 'a_code', errorKind: 'processing_error' } as const;
    harness().provider.faultsOf.refund.push(refused);
    const first = instance.refund(token, 'first', 100, by);
    await reached;
    return async () => {
      letGo();
      await first;
    };
  }

  /** By now it waits for its turn. */
  async function askForRest(token: string, by: Requester) {
    const asking = harness().refund(token, 'rest', undefined, by);
    await harness().passTime(harness().clock.sleep(200));
    return { asking };
  }

  // While another refund had reserved everything, nothing was left, and so nothing was limited: a key limited to 10 per refund
  // refunded 100 when the other one had failed.
  it('is limited per call, even if it waited for another one', async () => {
    const token = await harness().approved('order-1', 100);
    const end = await underWay(token, caller);
    const { asking } = await askForRest(token, limited(limitOf('refund', 10, null)));
    await end();
    expect(codeOf(await harness().passTime(asking))).toBe('amount_limit_exceeded');
    expect(await refundedOf(token)).toEqual([0]);
  });

  // 200 were refunded on one day under a limit of 100.
  it('counts for the day, even if it waited for another one', async () => {
    const by = limited(limitOf('refund', null, 100));
    const [one, two] = [await harness().approved('order-1', 100), await harness().approved('order-2', 100)];
    const end = await underWay(one, by);
    const { asking } = await askForRest(one, by);
    await end();
    expect(codeOf(await harness().passTime(asking))).toBe('answered');
    expect(codeOf(await harness().refund(two, 'other', 100, by))).toBe('daily_limit_exceeded');
    expect(await refundedOf(one, two)).toEqual([100, 0]);
  });

  // 100 are left and reserved; then another key refunds 30 of them.
  it('is the rest at its announcement, and counts with that amount', async () => {
    const by = limited(limitOf('refund', null, 100));
    const [one, two] = [await harness().approved('order-1', 100), await harness().approved('order-2', 100)];
    const { instance, reached, letGo } = startHolding('reservations-', 'after');
    const asking = instance.refund(one, 'rest', undefined, by);
    await reached;
    await harness().refund(one, 'part', 30);
    letGo();
    expect(await harness().passTime(asking)).toMatchObject({ aggregate: { refund: { amount: 70 } } });
    // Every refund of the team counts, including those of a key without a limit.
    expect(codeOf(await harness().refund(two, 'a', 1, by))).toBe('daily_limit_exceeded');
  });
});

// Their reservations had lapsed during the suspension, and others had used the sum: 200 were sent under a limit of 100.
describe('a process suspended between reservation and announcement sends nothing when it wakes up', () => {
  it('of a refund', async () => {
    const by = limited(limitOf('refund', null, 100));
    const [one, two] = [await harness().approved('order-1', 100), await harness().approved('order-2', 100)];
    const { instance, reached, letGo } = startHolding('reservations-', 'after');
    const late = instance.refund(one, 'a', 100, by);
    await reached;
    // From here on this process observes the other one's reservation.
    expect(codeOf(await harness().refund(two, 'early', 100, by))).toBe('daily_limit_exceeded');
    await harness().clock.advance(quietMs + 5_000);
    expect(codeOf(await harness().refund(two, 'b', 100, by))).toBe('answered');
    letGo();
    expect(await harness().passTime(late)).toMatchObject({ aggregate: { refund: { state: 'declined' } } });
    expect(await refundedOf(one, two)).toEqual([0, 100]);
  });

  // The late attempt was followed by another one at once, and that one was sent.
  it('of a payment, and attempts it no further', async () => {
    const by = limited(limitOf('payment', null, 100));
    const charge = (orderNumber: string, at: Instance = harness()) =>
      at.create({ ...teaFor(orderNumber, 100, { card }), caller: by });
    const { instance, reached, letGo } = startHolding('payment-');
    const late = charge('order-1', instance);
    await reached;
    expect((await charge('order-0')).kind).toBe('refused');
    await harness().clock.advance(quietMs);
    expect(await charge('order-2')).toMatchObject({ aggregate: { payment: { phase: 'approved' } } });
    letGo();
    expect(await harness().passTime(late)).toMatchObject({
      aggregate: { payment: { phase: 'failed', failure: 'not-sent', attempt: { number: 1 } } },
    });
    expect(harness().provider.requests).toHaveLength(1);
  });
});
