/** A payment can be traced by the id of its cause, up to the webhook at a team's receiver. */
import { isRequestId } from '@tollgate/service-kit';
import { type Receiver, eventually, startReceiver } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { issueKey } from './commands.ts';
import { recordsOf } from './topic.ts';
import { type System, startSystem, stopEverything } from './system.ts';

const approvedCard = '4392963203551251';
const card = { pan: approvedCard, expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };

/** The webhooks of a payment that the receiver has. */
const webhooksOf = (token: string) => shop.received.filter(({ body }) => body.token === token);

let system: System;
let shop: Receiver;
let orders = 0;

beforeAll(async () => {
  shop = await startReceiver();
  system = await startSystem({ env: { TOLLGATE_LOG_LEVEL: 'info' } });
});
afterAll(async () => {
  await stopEverything();
  await shop.close();
});

/** @returns the token of a paid payment */
async function payNow(callbackUrl: string): Promise<string> {
  orders += 1;
  const orderNumber = `notified-${orders}`;
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber, callbackUrl };
  const created = await system.gateway('POST', '/api/v1/payments', { body });
  expect(created.statusCode).toBe(200);
  const { token, processingUrl } = created.body;
  await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
  return token;
}

interface FedEvents {
  events: { record: { payment?: { token: string } } }[];
}

// A failed request must be traceable by its id.
it('a request can be traced by its id: answer, record, log, event, topic and webhook', async () => {
  const key = await issueKey(system, 'demo', 'payments,cards,read');
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', callbackUrl: shop.url, card };
  const headers = { 'idempotency-key': 'followed', 'x-request-id': 'order-4711' };
  const ask = system.gatewayAs(key);
  // The request itself returns the approval, and no callback arrives before.
  await system.sandbox('POST', '/sandbox/faults', [{ operation: 'callback', fault: 'drop' }]);
  onTestFinished(async () => {
    await system.sandbox('DELETE', '/sandbox/faults');
  });
  const created = await eventually(async () => {
    const answer = await ask('POST', '/api/v1/payments', { body, headers });
    expect(answer.statusCode).toBe(200);
    return answer;
  });
  const id = String(created.headers['request-id']);
  const { token } = created.body;
  const record = await eventually(async () => {
    const found = await ask('GET', `/api/v1/requests/${id}`);
    expect(found.statusCode).toBe(200);
    return found.body.request;
  });
  expect(record).toMatchObject({ id, token, status: 200, clientRequestId: 'order-4711' });
  expect(record.providerMs).toBeGreaterThan(0);
  expect(record.providerMs).toBeLessThanOrEqual(record.durationMs);
  await eventually(() => {
    const output = system.output().split('\n');
    const lines = output.filter((line) => line.includes(id));
    expect(lines.some((line) => line.includes('called the provider'))).toBe(true);
    expect(lines.some((line) => line.includes('"answered"') && line.includes(token))).toBe(true);
    return Promise.resolve();
  });
  const approvedBy = await eventually(async () => {
    const { events } = (await ask('GET', `/api/v1/payments/${token}/events`)).body;
    const causeOf = (wanted: string) => events.find(({ type }) => type === wanted)?.cause.correlationId;
    expect(causeOf('PaymentRequested')).toBe(id);
    expect(causeOf('PaymentApproved')).toBeDefined();
    return causeOf('PaymentApproved');
  });
  if (created.body.payment.status === 'approved') expect(approvedBy).toBe(id);
  const records = await recordsOf(system, token, (all) => all.length > 1);
  expect(records[0]?.event).toMatchObject({ type: 'PaymentRequested', correlationId: id });
  // Over HTTP they are the same.
  await eventually(async () => {
    const { events } = (await ask('GET', '/api/v1/events?perPage=500')).body as unknown as FedEvents;
    const ofPayment = events.filter(({ record: { payment } }) => payment?.token === token);
    expect(ofPayment.map((each) => each.record).slice(0, records.length)).toEqual(records);
  });
  await eventually(() => expect(webhooksOf(token).length).toBeGreaterThan(0));
  expect(webhooksOf(token)[0]?.headers['tollgate-correlation-id']).toBe(approvedBy);
});

// The log must connect a webhook to the callback that caused it.
it('so can a callback of the Payment Service: log, event and webhook', async () => {
  const token = await payNow(shop.url);
  const approved = await eventually(() => {
    const found = webhooksOf(token).find(({ body }) => body.status === 'approved');
    expect(found).toBeDefined();
    return Promise.resolve(found);
  });
  const id = String(approved?.headers['tollgate-correlation-id']);
  expect(isRequestId(id)).toBe(true);
  const { events } = (await system.gateway('GET', `/api/v1/payments/${token}/events`)).body;
  const causes = events.map(({ type, cause }) => [type, cause.correlationId]);
  expect(causes).toContainEqual(['PaymentApproved', id]);
  await eventually(() => {
    const lines = system.output().split('\n');
    expect(lines.some((line) => line.includes(id) && line.includes('"/callbacks/'))).toBe(true);
    return Promise.resolve();
  });
});
