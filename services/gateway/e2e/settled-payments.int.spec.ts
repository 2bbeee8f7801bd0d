/**
 * Final payments are inquired again, at growing intervals: changes at the provider are found even if their callbacks
 * are lost.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { serviceTokenOf } from './ledger.ts';
import { type System, startSystem, stopEverything } from './system.ts';

let system: System;
const halfAnHourMs = 31 * 60_000;

beforeAll(async () => {
  // The defaults, shortened: the last one comes when every change of a spec has been made.
  system = await startSystem({ env: { FINAL_INQUIRIES_AFTER_S: '1,3,6,12,20' } });
});
afterAll(stopEverything);

async function create(orderNumber: string): Promise<{ token: string; processingUrl: string }> {
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber };
  const { statusCode, body: created } = await system.gateway('POST', '/api/v1/payments', { body });
  expect(statusCode).toBe(200);
  return created;
}

const paymentOf = async (token: string) =>
  (await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment;

const loseCallbacks = () =>
  system.sandbox('POST', '/sandbox/faults', [{ operation: 'callback', fault: 'drop', every: 1 }]);

it('finds a late approval whose callback was lost', async () => {
  const { token } = await create('expires');
  await system.sandbox('POST', '/sandbox/clock', { advanceMs: halfAnHourMs });
  await eventually(async () => expect(await paymentOf(token)).toMatchObject({ status: 'expired' }));
  await loseCallbacks();
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  const revised = await system.sandbox('POST', `/sandbox/payments/${serviceToken}/revise`, {
    status: 'approved',
  });
  expect(revised.statusCode).toBe(200);
  await eventually(async () => expect(await paymentOf(token)).toMatchObject({ status: 'approved' }), {
    timeoutMs: 30_000,
  });
}, 60_000);

it("finds a refund made in the service's own console", async () => {
  await system.sandbox('DELETE', '/sandbox/faults');
  const { token, processingUrl } = await create('refunded-elsewhere');
  await payOnHostedPage(system.customer, { processingUrl, card: '4392963203551251' });
  await eventually(async () => expect(await paymentOf(token)).toMatchObject({ status: 'approved' }));
  await loseCallbacks();
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  const refunded = await system.sandbox('POST', '/api/v1/refunds', { token: serviceToken, amount: 250 });
  expect(refunded.statusCode).toBe(200);
  await eventually(async () => expect(await paymentOf(token)).toMatchObject({ refundedAmount: 250 }), {
    timeoutMs: 30_000,
  });
}, 60_000);
