/** The Payment Service does its work and its answer is lost, or it does nothing and the outcome is unknown. */
import { eventually } from '@tollgate/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { type PaymentView, type System, startSystem, stopEverything } from './system.ts';

let system: System;

beforeAll(async () => {
  // The defaults, shortened: what matters is their order, not their length.
  const times = {
    PROVIDER_CALL_DEADLINE_MS: '1000',
    PROVIDER_SEND_WITHIN_MS: '1000',
    PROVIDER_QUIET_MS: '500',
  };
  system = await startSystem({ env: times });
});
afterEach(() => system.sandbox('DELETE', '/sandbox/faults'));
afterAll(stopEverything);

const terms = (orderNumber: string) => ({ product: 'Tea', amount: 1250, currency: 'EUR', orderNumber });

async function ledgerOf(token: string): Promise<PaymentView[]> {
  const answer = await system.sandbox('GET', '/sandbox/ledger');
  return answer.body.payments.filter(({ orderNumber }: { orderNumber: string }) =>
    orderNumber.startsWith(token),
  );
}

it.each(['lost_reply', 'error_after', 'html_502', 'truncated_json'])(
  'a creation answered with %s is found again, and the payment exists once',
  async (fault) => {
    await system.sandbox('POST', '/sandbox/faults', [{ operation: 'create', fault, times: 1 }]);
    const body = terms(`order-${fault}`);
    const first = await system.gateway('POST', '/api/v1/payments', { body });
    expect(first.statusCode).toBe(202);
    expect(first.body.payment).toMatchObject({ status: 'init', phase: 'unresolved' });
    const again = await system.gateway('POST', '/api/v1/payments', { body });
    expect(again.statusCode).toBe(200);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body.token).toBe(first.body.token);
    expect(await ledgerOf(first.body.token)).toHaveLength(1);
    await payOnHostedPage(system.customer, {
      processingUrl: again.body.processingUrl,
      card: '4392963203551251',
    });
    await eventually(async () => {
      const { body: read } = await system.gateway('GET', `/api/v1/payments/${first.body.token}`);
      expect(read.payment.status).toBe('approved');
    });
  },
);

it('a creation that never took effect is attempted again after the quiet period, under a number of its own', async () => {
  await system.sandbox('POST', '/sandbox/faults', [{ operation: 'create', fault: 'error_before', times: 1 }]);
  const body = terms('order-error-before');
  const first = await system.gateway('POST', '/api/v1/payments', { body });
  expect(first.statusCode).toBe(202);
  await eventually(async () => {
    const again = await system.gateway('POST', '/api/v1/payments', { body });
    expect(again.statusCode).toBe(200);
    expect(again.body.processingUrl).toMatch(/^https:/);
  });
  const payments = await ledgerOf(first.body.token);
  expect(payments.map(({ orderNumber }) => orderNumber)).toEqual([`${first.body.token}.2`]);
});

it('a creation that is answered after our deadline is found again', async () => {
  await system.sandbox('POST', '/sandbox/faults', [
    { operation: 'create', fault: 'slow_reply', delayMs: 2_500, times: 1 },
  ]);
  const body = terms('order-slow');
  const first = await system.gateway('POST', '/api/v1/payments', { body });
  expect(first.statusCode).toBe(202);
  await eventually(async () => {
    const again = await system.gateway('POST', '/api/v1/payments', { body });
    expect(again.statusCode).toBe(200);
  });
  expect(await ledgerOf(first.body.token)).toHaveLength(1);
});
