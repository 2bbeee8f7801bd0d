/**
 * Final payments are inquired again, at growing intervals: changes at the provider are found even if their callbacks
 * are lost.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { serviceTokenOf } from './ledger.ts';
import { startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);

it("finds a refund made in the service's own console", { timeout: 60_000 }, async () => {
  // The defaults, shortened: the last one comes when every change has been made.
  const system = await startSystem({ env: { FINAL_INQUIRIES_AFTER_S: '1,3,6,12,20' } });
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'refunded-elsewhere' };
  const { token, processingUrl } = (await system.gateway('POST', '/api/v1/payments', { body })).body;
  const untilShown = (expected: object) =>
    eventually(
      async () => {
        const { payment } = (await system.gateway('GET', `/api/v1/payments/${token}`)).body;
        expect(payment).toMatchObject(expected);
      },
      { timeoutMs: 30_000 },
    );
  await payOnHostedPage(system.customer, { processingUrl, card: '4392963203551251' });
  await untilShown({ status: 'approved' });
  await system.sandbox('POST', '/sandbox/faults', [{ operation: 'callback', fault: 'drop', every: 1 }]);
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  const refunded = await system.sandbox('POST', '/api/v1/refunds', { token: serviceToken, amount: 250 });
  expect(refunded.statusCode).toBe(200);
  await untilShown({ refundedAmount: 250 });
});
