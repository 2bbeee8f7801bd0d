/** A gateway on a separate event store server, while either of the two is killed. */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { type LocalEventStoreDb, startLocalEventStoreDb } from './local-eventstoredb.ts';
import { type System, newDataDir, startSystem, stopEverything } from './system.ts';

const settled = { timeoutMs: 60_000 };
const card = '4392963203551251';

/** A server private to this spec, because it is killed here. */
const dataDir = newDataDir();
let server: LocalEventStoreDb;
let system: System;

beforeAll(async () => {
  server = await startLocalEventStoreDb(dataDir);
  system = await startSystem({ env: { EVENTSTORE_URL: server.url } });
}, 120_000);
afterAll(async () => {
  await stopEverything();
  await server.stop('SIGKILL');
});

const create = (orderNumber: string) =>
  system.gateway('POST', '/api/v1/payments', {
    body: { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber },
    headers: { 'idempotency-key': orderNumber },
  });

/** The payment's history, without callbacks that were delayed by the outage. */
const history = async (token: string) => {
  const { body } = await system.gateway('GET', `/api/v1/payments/${token}/events`);
  return body.events.map(({ type }) => type).filter((type) => !type.startsWith('Callback'));
};

const approved = ['PaymentRequested', 'AttemptAccepted', 'PaymentApproved'];

async function paid(orderNumber: string): Promise<string> {
  const { body } = await create(orderNumber);
  await payOnHostedPage(system.customer, { processingUrl: body.processingUrl, card });
  await eventually(async () => expect(await history(body.token)).toEqual(approved), settled);
  return body.token;
}

describe('a gateway on EventStoreDB', () => {
  it('reports that it is not ready while the store is unavailable, and resumes automatically from the recorded events', async () => {
    const token = await paid('before');
    await server.stop('SIGKILL');
    await eventually(async () => {
      const { statusCode, body } = await system.gateway('GET', '/readyz');
      expect([statusCode, body]).toMatchObject([503, { notReady: ['event-store'] }]);
    }, settled);
    const refused = await create('during');
    expect([refused.statusCode, refused.body.errors[0]?.code]).toEqual([503, 'store_unavailable']);
    await server.start();
    await eventually(async () => {
      expect((await system.gateway('GET', '/readyz')).statusCode).toBe(200);
    }, settled);
    expect(await history(token)).toEqual(approved);
    expect((await create('during')).statusCode).toBe(200);
    expect(await history(await paid('after'))).toEqual(approved);
  });

  it('loses nothing it has answered when it is killed', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`kept-${index}`)));
    const tokens = answers.map(({ body }) => body.token);
    await system.kill();
    system = await system.restart();
    for (const token of tokens) expect((await history(token)).slice(0, 2)).toEqual(approved.slice(0, 2));
    const repeated = await create('kept-0');
    expect([repeated.statusCode, repeated.body.token]).toEqual([200, tokens[0]]);
  });
});
