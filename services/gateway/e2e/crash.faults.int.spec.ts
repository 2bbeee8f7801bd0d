/**
 * `kill -9` of the whole system under load: nothing acknowledged is missing, nothing is there twice, and what was
 * under way is resumed.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { type Answer, type System, startSystem, stopEverything } from './system.ts';
import { recordsOf } from './topic.ts';

afterAll(stopEverything);

const connections = 8;
const rounds = 3;
/** Acknowledged creations after which a round is killed. */
const acknowledgedPerRound = 40;
const times = {
  PROVIDER_CALL_DEADLINE_MS: '1000',
  PROVIDER_SEND_WITHIN_MS: '1000',
  PROVIDER_QUIET_MS: '500',
};

const terms = (orderNumber: string) => ({ product: 'Tea', amount: 1250, currency: 'EUR', orderNumber });
const post = (system: System, orderNumber: string) =>
  system.gateway('POST', '/api/v1/payments', { body: terms(orderNumber) });

/** Creates payments until the system is gone; every order that was begun is noted, with its answer where there was one. */
async function load(system: System, round: number, orders: Map<string, Answer | undefined>): Promise<void> {
  let acknowledged = 0;
  let next = 0;
  let dead = false;
  async function connection(): Promise<void> {
    while (!dead) {
      const orderNumber = `order-${round}-${(next += 1)}`;
      orders.set(orderNumber, undefined);
      try {
        orders.set(orderNumber, await post(system, orderNumber));
      } catch {
        return;
      }
      acknowledged += 1;
      if (acknowledged === acknowledgedPerRound) {
        dead = true;
        await system.kill();
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, connection));
}

it('keeps what was acknowledged, creates nothing twice, and resumes', { timeout: 120_000 }, async () => {
  let system = await startSystem({ env: times });
  const orders = new Map<string, Answer | undefined>();
  for (let round = 1; round <= rounds; round += 1) {
    await load(system, round, orders);
    system = await system.restart();
  }
  expect(orders.size).toBeGreaterThan(rounds * acknowledgedPerRound);

  // What was cut off between its announcement and its answer is resolved without a repeated request.
  for (const phase of ['requested', 'unresolved'])
    await eventually(
      async () => {
        const { body } = await system.gateway('GET', `/api/v1/payments?phase=${phase}`);
        expect(body.payments).toEqual([]);
      },
      { timeoutMs: 30_000 },
    );

  const tokens = new Map<string, string>();
  for (const [orderNumber, before] of orders) {
    if (before !== undefined) {
      const read = await system.gateway('GET', `/api/v1/payments/${before.body.token}`);
      expect(read.body.payment).toMatchObject({ token: before.body.token, orderNumber, amount: 1250 });
    }
    // A caller that got no answer repeats its request, and so comes to exactly one payment.
    const after = await eventually(async () => {
      const answer = await post(system, orderNumber);
      expect(answer.statusCode).toBe(200);
      return answer;
    });
    if (before !== undefined) expect(after.body.token).toBe(before.body.token);
    if (before?.body.processingUrl !== undefined)
      expect(after.body.processingUrl).toBe(before.body.processingUrl);
    tokens.set(orderNumber, after.body.token);
  }

  const { payments } = (await system.sandbox('GET', '/sandbox/ledger')).body;
  const perToken = Map.groupBy(payments, ({ orderNumber }) => orderNumber.split('.')[0]);
  for (const token of tokens.values()) expect(perToken.get(token)?.length, token).toBe(1);

  const [token] = [...tokens.values()].slice(-1);
  if (token === undefined) throw new Error('there is no payment');
  const page = (await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment.processingUrl;
  await payOnHostedPage(system.customer, { processingUrl: page, card: '4392963203551251' });
  await eventually(async () => {
    const { body } = await system.gateway('GET', `/api/v1/payments/${token}`);
    expect(body.payment.status).toBe('approved');
  });
  const records = await recordsOf(system, token, (all) =>
    all.some(({ payment }) => payment.status === 'approved'),
  );
  expect(records.map(({ event }) => event.sequence)).toEqual(records.map((_, index) => index));
});
