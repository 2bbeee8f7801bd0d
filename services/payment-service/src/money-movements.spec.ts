import { DatabaseSync } from 'node:sqlite';
import { isWholeRun, propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFaults } from './faults.ts';
import { createMoneyMovements } from './money-movements.ts';
import type { Result } from './payment-changes.ts';
import type { Payment } from './payments.ts';
import { migrate } from './storage/schema.ts';
import { createTables } from './storage/tables.ts';
import { bankAccountDestination, dayMs, tea } from './testing/samples.ts';

const merchant = { id: 1, name: 'demo' };
const start = 1_800_000_000_000;

/** All money movements, with an in-memory database and a manual clock. */
function setUp() {
  const connection = new DatabaseSync(':memory:');
  migrate(connection);
  connection.exec("INSERT INTO merchants (name) VALUES ('demo')");
  let now = start;
  let issued = 0;
  const tables = createTables(connection);
  const money = createMoneyMovements({
    database: { connection },
    tables,
    faults: createFaults(),
    now: () => now,
    ids: { hex: (bytes) => String((issued += 1)).padStart(2 * bytes, '0') },
    settlementDelayMs: dayMs,
    onChange: () => undefined,
  });
  const rows = (sql: string) =>
    connection
      .prepare(sql)
      .all()
      .map((row) => ({ ...row })) as Record<string, number>[];
  return {
    money,
    tables,
    rows,
    advance: (byMs: number) => {
      now += byMs;
      while ((money.doDue() ?? Number.POSITIVE_INFINITY) <= now);
    },
    create: (amount: number, needConfirmation: boolean, recurringToken?: string): Result<Payment> => {
      const request = { ...tea, amount, needConfirmation, recurring: true };
      const paidWith = recurringToken === undefined ? { card: goodCard } : { recurringToken };
      return money.changes.create(merchant, { request, paidWith });
    },
  };
}
type World = ReturnType<typeof setUp>;

const goodCard = { outcome: 'approved' as const, needsAuthentication: false, sanitizedMask: '******1251' };

/** Checks that the wallet matches its lots and the records of approvals, refunds, payouts and lost disputes. */
function expectSound({ rows, tables }: World): void {
  const [{ held = 0, settled = 0 } = {}] = rows('SELECT held, settled FROM wallets');
  expect(rows('SELECT coalesce(sum(remaining), 0) AS held FROM hold_lots')).toEqual([{ held }]);
  const payments = tables.payments.list({ merchantId: 1 }, { offset: 0, limit: 1_000 });
  const sum = (amounts: number[]) => amounts.reduce((one, other) => one + other, 0);
  const refunds = tables.refunds.list({ merchantId: 1 }, { limit: 1_000 });
  for (const { token, amount, refundedAmount, disputedAmount } of payments) {
    const own = refunds.filter(({ paymentToken }) => paymentToken === token);
    expect(sum(own.map((refund) => refund.amount))).toBe(refundedAmount);
    expect(refundedAmount + disputedAmount).toBeLessThanOrEqual(amount);
  }
  const approved = payments.filter(({ status }) => status === 'approved' || status === 'refunded');
  const lost = tables.disputes
    .list({ merchantId: 1 }, { limit: 1_000 })
    .filter(({ status }) => status === 'approved');
  const paidOut = tables.payouts
    .list({ merchantId: 1 }, { limit: 1_000 })
    .filter(({ status }) => status === 'approved');
  expect(held + settled).toBe(
    sum(approved.map(({ amount }) => amount)) -
      sum([...refunds, ...lost, ...paidOut].map(({ amount }) => amount)),
  );
}

/** One operation; `pick` chooses its payment, dispute or token. */
const stepArbitrary = fc.record({
  name: fc.constantFrom(
    ...(['create', 'hold', 'repeat', 'confirm', 'decline', 'refund', 'refundAll', 'payOut'] as const),
    ...(['open', 'lose', 'win', 'approve', 'revise', 'advance'] as const),
  ),
  amount: fc.integer({ min: 1, max: 1_000 }),
  pick: fc.nat(7),
});
type Step = typeof stepArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

function take(world: World, { name, amount, pick }: Step): void {
  const { money, tables } = world;
  const payments = tables.payments.list({ merchantId: 1 }, { offset: 0, limit: 1_000 });
  const payment = payments[pick % Math.max(1, payments.length)];
  const token = payment?.token ?? 'none';
  const dispute = tables.disputes.list({ merchantId: 1 }, { limit: 100 })[pick]?.id ?? 'none';
  const terms = { amount, currency: 'EUR', orderNumber: 'x' };
  const steps: Record<Step['name'], () => unknown> = {
    create: () => world.create(amount, false),
    hold: () => world.create(amount, true),
    repeat: () => world.create(amount, false, payment?.recurringToken ?? 'none'),
    confirm: () => money.changes.confirm(merchant, token),
    decline: () => money.changes.decline(merchant, token),
    refund: () => money.refund(merchant, { token, amount }),
    refundAll: () => money.refund(merchant, { token }),
    payOut: () => money.payOut(merchant, { ...terms, destination: bankAccountDestination }),
    open: () => money.openDispute(merchant, { token, ...(pick > 3 ? { amount } : {}) }),
    lose: () => money.resolveDispute(merchant, dispute, 'approved'),
    win: () => money.resolveDispute(merchant, dispute, 'declined'),
    approve: () => money.changes.revise(merchant, token, { status: 'approved', amount }),
    revise: () => money.changes.revise(merchant, token, { status: 'declined' }),
    advance: () => world.advance(amount * 200_000),
  };
  steps[name]();
}

describe('the movements of money', () => {
  it('keep the books sound in any sequence of operations', () => {
    const done: Record<string, boolean> = {};
    const property = fc.property(fc.array(stepArbitrary, { minLength: 30, maxLength: 60 }), (steps) => {
      const world = setUp();
      for (const step of steps) {
        take(world, step);
        expectSound(world);
      }
      const { tables, rows } = world;
      if (rows('SELECT 1 FROM wallets WHERE settled > 0').length > 0) done['settled'] = true;
      if (tables.refunds.count({ merchantId: 1 }) > 0) done['refunded'] = true;
      if (tables.payouts.count({ merchantId: 1 }) > 0) done['paidOut'] = true;
      if (rows('SELECT 1 FROM disputes WHERE record LIKE \'%"approved"%\'').length > 0) done['lost'] = true;
    });
    fc.assert(property, { numRuns: propertyRuns(60) });
    // Operations that never ran were not tested.
    if (isWholeRun) expect(done).toEqual({ settled: true, refunded: true, paidOut: true, lost: true });
  });

  it('draw a refund from the payment’s own held money, then from available, then from what is held', () => {
    const world = setUp();
    world.create(100, false);
    world.advance(dayMs);
    const { value: payment } = world.create(100, false);
    world.create(100, false);
    world.money.payOut(merchant, {
      amount: 60,
      currency: 'EUR',
      orderNumber: 'x',
      destination: bankAccountDestination,
    });
    const refund = (amount: number, token = payment?.token ?? '') =>
      world.money.refund(merchant, { token, amount });
    const wallet = () => world.money.wallets.of({ merchantId: 1, currency: 'EUR' });
    refund(70);
    expect(wallet()).toMatchObject({ hold: 130, available: 40 });
    const [, , first] = world.tables.payments.list({ merchantId: 1 }, { offset: 0, limit: 3 });
    refund(50, first?.token);
    expect(wallet()).toMatchObject({ hold: 120, available: 0 });
    world.advance(dayMs);
    expect(wallet()).toMatchObject({ hold: 0, available: 120 });
  });
});
