/** Webhooks of the whole gateway at a team's receiver. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isRequestId, parseWebhookSecrets, webhookSecretsOf } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { issueKey } from './commands.ts';
import { recordsOf } from './topic.ts';
import { type System, startSystem, stopEverything } from './system.ts';

/** Only a busy machine needs this long. */
const settled = { timeoutMs: 30_000 };
const approvedCard = '4392963203551251';
const card = { pan: approvedCard, expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };

interface Received {
  headers: IncomingHttpHeaders;
  text: string;
  body: { token: string; type: string; status: string; orderNumber: string };
}

/** A shop's server. It answers as configured, 200 by default. */
function createShop() {
  const received: Received[] = [];
  const shop = { received, statusCode: 200, url: '', close: async () => {} };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      received.push({ headers: request.headers, text, body: JSON.parse(text) });
      response.writeHead(shop.statusCode).end();
    });
  });
  shop.close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return new Promise<typeof shop>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      shop.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tollgate`;
      resolve(shop);
    }),
  );
}

let system: System;
let shop: Awaited<ReturnType<typeof createShop>>;
let orders = 0;

beforeAll(async () => {
  shop = await createShop();
  system = await startSystem({ env: { TOLLGATE_LOG_LEVEL: 'info' } });
}, 60_000);
afterEach(() => {
  shop.statusCode = 200;
  shop.received.splice(0);
});
afterAll(async () => {
  await stopEverything();
  await shop.close();
});

async function payNow(callbackUrl: string): Promise<{ token: string; orderNumber: string }> {
  orders += 1;
  const orderNumber = `notified-${orders}`;
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber, callbackUrl };
  const created = await system.gateway('POST', '/api/v1/payments', { body });
  expect(created.statusCode).toBe(200);
  const { token, processingUrl } = created.body;
  await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
  return { token, orderNumber };
}

interface CausedEvent {
  type: string;
  cause: { correlationId: string };
}

interface FedEvents {
  events: { record: { payment?: { token: string } } }[];
}

interface Shown {
  /** Absent for the callbackUrl of the payment. */
  endpoint?: string;
  id: string;
  state: string;
  body: { status: string };
  deliveries: { outcome: string; statusCode?: number; reason?: string }[];
}

async function recordOf(token: string): Promise<Shown[]> {
  const { body } = await system.gateway('GET', `/api/v1/webhooks?token=${token}`);
  return (body as unknown as { webhooks: Shown[] }).webhooks;
}

/** Verifies like a receiver with the demo team's secret, following the Standard Webhooks specification. */
function isSigned({ headers, text }: Received): boolean {
  const masters = parseWebhookSecrets(readFileSync(join(system.dataDir, 'webhook-secrets'), 'utf8').trim());
  const [secret] = webhookSecretsOf(masters, 'sandbox', 'demo');
  const key = Buffer.from(secret?.reveal().slice('whsec_'.length) ?? '', 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`;
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}

const webhooksOf = (token: string) => shop.received.filter(({ body }) => body.token === token);

it('a team is notified of each change of status once, signed, with its own order number', async () => {
  const { token, orderNumber } = await payNow(shop.url);
  await eventually(() => expect(webhooksOf(token).at(-1)?.body.status).toBe('approved'));
  const webhooks = webhooksOf(token);
  const statuses = webhooks.map(({ body }) => body.status);
  expect(new Set(statuses).size).toBe(statuses.length);
  for (const each of webhooks) {
    expect(isSigned(each)).toBe(true);
    expect(each.body).toMatchObject({ token, orderNumber, type: 'payment', amount: 1250, currency: 'EUR' });
  }
  await eventually(async () => {
    const record = await recordOf(token);
    expect(record.map(({ body }) => body.status)).toEqual(statuses);
    expect(record.every(({ state }) => state === 'delivered')).toBe(true);
  });
});

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
    return (found.body as unknown as { request: { providerMs: number; durationMs: number } }).request;
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
    const causeOf = (wanted: string) =>
      (events as unknown as CausedEvent[]).find(({ type }) => type === wanted)?.cause.correlationId;
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
  const { token } = await payNow(shop.url);
  const approved = await eventually(() => {
    const found = webhooksOf(token).find(({ body }) => body.status === 'approved');
    expect(found).toBeDefined();
    return Promise.resolve(found);
  });
  const id = String(approved?.headers['tollgate-correlation-id']);
  expect(isRequestId(id)).toBe(true);
  const { events } = (await system.gateway('GET', `/api/v1/payments/${token}/events`)).body;
  const causes = (events as unknown as CausedEvent[]).map(({ type, cause }) => [type, cause.correlationId]);
  expect(causes).toContainEqual(['PaymentApproved', id]);
  await eventually(() => {
    const lines = system.output().split('\n');
    expect(lines.some((line) => line.includes(id) && line.includes('"/callbacks/'))).toBe(true);
    return Promise.resolve();
  });
});

it('undelivered webhooks survive the death of the gateway', { timeout: 120_000 }, async () => {
  shop.statusCode = 500;
  const endpoint = { url: `${shop.url}/standing`, events: ['payment.approved'] };
  expect((await system.gateway('POST', '/api/v1/webhook-endpoints', { body: endpoint })).statusCode).toBe(
    201,
  );
  const { token } = await payNow(shop.url);
  await eventually(async () => {
    const record = await recordOf(token);
    expect(record.filter(({ body }) => body.status === 'approved')).toHaveLength(2);
    // A later status waits for the one before it, if the customer was seen paying.
    for (const [first] of Map.groupBy(record, ({ endpoint }) => endpoint).values())
      expect(first?.deliveries.length).toBeGreaterThan(0);
  }, settled);
  await system.kill();
  shop.statusCode = 200;
  system = await system.restart();
  await eventually(async () => {
    const record = await recordOf(token);
    expect(record.map(({ state }) => state)).toEqual(record.map(() => 'delivered'));
  }, settled);
  const ids = webhooksOf(token).map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe((await recordOf(token)).length);
});
