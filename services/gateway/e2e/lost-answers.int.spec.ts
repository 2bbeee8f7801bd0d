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

// The story: one lost reply of the service kept a customer from the page for 65 seconds.
it.each(['lost_reply', 'error_after', 'html_502', 'truncated_json', 'error_before'])(
  'a creation answered with %s is followed at once by another page, the only one that is given',
  async (fault) => {
    await system.sandbox('POST', '/sandbox/faults', [{ operation: 'create', fault, times: 1 }]);
    const body = terms(`order-${fault}`);
    const first = await system.gateway('POST', '/api/v1/payments', { body });
    expect(first.statusCode).toBe(200);
    const again = await system.gateway('POST', '/api/v1/payments', { body });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body.processingUrl).toBe(first.body.processingUrl);
    const { token, processingUrl } = first.body;
    const numbers = (await ledgerOf(token)).map(({ orderNumber }) => orderNumber);
    expect(numbers.sort()).toEqual([...(fault === 'error_before' ? [] : [`${token}.1`]), `${token}.2`]);
    await payOnHostedPage(system.customer, { processingUrl, card: '4392963203551251' });
    await eventually(async () => {
      const { body: read } = await system.gateway('GET', `/api/v1/payments/${token}`);
      expect(read.payment).toMatchObject({ status: 'approved', reviews: [] });
    });
  },
);

it('a creation that is answered after our deadline is followed by another page', async () => {
  await system.sandbox('POST', '/sandbox/faults', [
    { operation: 'create', fault: 'slow_reply', delayMs: 2_500, times: 1 },
  ]);
  const { statusCode, body } = await system.gateway('POST', '/api/v1/payments', {
    body: terms('order-slow'),
  });
  expect(statusCode).toBe(200);
  expect(body.processingUrl).toMatch(/^https:/);
});
