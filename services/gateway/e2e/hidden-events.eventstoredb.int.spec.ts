/**
 * A gateway on a leader without a quorum, which accepts appends but confirms them to no client and hides them from
 * every read. A repeated refund must not end with 500.
 */
import { hideNext, servedStore } from '@tollgate/event-store/testing/eventstoredb';
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { ledgerOf } from './ledger.ts';
import { startSystem, stopEverything } from './system.ts';

const settled = { timeoutMs: 60_000 };
/** Longer than the gateway's own retries. @unit milliseconds */
const longMs = 12_000;

afterAll(stopEverything, 60_000);

async function passed(durationMs: number): Promise<void> {
  const startedAt = Date.now();
  await eventually(() => expect(Date.now() - startedAt).toBeGreaterThan(durationMs), settled);
}

it.each(['shown', 'lost'] as const)(
  'asks for a repeat of what it cannot know, and carries it out once: %s',
  { timeout: 180_000 },
  async (fate) => {
    const { server } = await servedStore();
    const system = await startSystem({ env: { EVENTSTORE_URL: server.url } });
    const { body } = await system.gateway('POST', '/api/v1/payments', {
      body: { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber: 'order-1' },
    });
    const { token, processingUrl } = body;
    await payOnHostedPage(system.customer, { processingUrl, card: '4392963203551251' });
    await eventually(async () => {
      const shown = await system.gateway('GET', `/api/v1/payments/${token}`);
      expect(shown.body.payment.status).toBe('approved');
    }, settled);

    const hiddenKey = hideNext(server, ({ stream }) => stream.startsWith('refund-'));
    const refund = async () => {
      const headers = { 'idempotency-key': 'refund-1' };
      const answer = await system.gateway('POST', '/api/v1/refunds', {
        body: { token, amount: 250 },
        headers,
      });
      return [answer.statusCode, answer.body.errors?.[0]?.code];
    };
    const first = refund();
    await eventually(() => expect(hiddenKey.isHidden()).toBe(true), settled);
    const answers = await Promise.all([first, refund(), refund()]);
    expect(answers).toEqual(answers.map(() => [503, 'store_unavailable']));
    await passed(longMs);
    hiddenKey.decide(fate);

    await eventually(async () => expect(await refund()).toEqual([200, undefined]), settled);
    expect(await refund()).toEqual([200, undefined]);
    const { refunds } = await ledgerOf(system.sandbox, `${token}.`);
    expect(refunds.map(({ amount }) => amount)).toEqual([250]);
  },
);
