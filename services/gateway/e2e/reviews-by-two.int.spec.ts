/** Reviews that require two people: any two, at any processes of the gateway. */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueKey, operatorOf } from './commands.ts';
import { historyOf, reviewsOf, serviceTokenOf, typesOf } from './ledger.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';

const settled = { timeoutMs: 20_000 };
const code = 'discrepancy';

let system: System;
let gateway: CallGateway;
/** Two operators, as the API knows them. */
let ada: CallGateway;
let bob: CallGateway;

beforeAll(async () => {
  system = await startSystem({ env: { REVIEWS_BY_TWO: 'sandbox' } });
  gateway = system.gatewayAs(await issueKey(system, 'demo', 'payments,read,cards,admin'));
  ada = await operatorOf(system, 'ada@company.example');
  bob = await operatorOf(system, 'bob@company.example');
  await eventually(
    async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200),
    settled,
  );
}, 120_000);
afterAll(stopEverything);

/** A payment whose final status the Payment Service has changed. */
async function revisedPayment(orderNumber: string): Promise<string> {
  const card = { pan: '4730198364688516', expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };
  const body = { product: 'Tea', amount: 1_000, currency: 'EUR', orderNumber, card };
  const { token } = (await gateway('POST', '/api/v1/payments', { body })).body;
  await eventually(
    async () =>
      expect((await gateway('GET', `/api/v1/payments/${token}`)).body.payment.status).toBe('declined'),
    settled,
  );
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  await system.sandbox('POST', `/sandbox/payments/${serviceToken}/revise`, {
    status: 'approved',
    amount: 900,
  });
  await eventually(async () => expect(await reviewsOf(gateway, token)).toEqual([code]), settled);
  return token;
}

const resolve = (by: CallGateway, token: string) =>
  by('POST', `/api/v1/reviews/${token}/resolve`, {
    body: { code, number: 1, resolution: 'keep_ours', reason: 'I asked the bank' },
    headers: { 'tollgate-team': 'demo', 'tollgate-environment': 'sandbox' },
  });

it('the first resolution waits in the list, with its author; a second person makes it effective', async () => {
  const token = await revisedPayment('two-1');
  const proposal = { resolution: 'keep_ours', reason: 'I asked the bank' };
  for (let time = 0; time < 2; time += 1)
    expect(await resolve(ada, token)).toMatchObject({
      statusCode: 202,
      body: { success: true, payment: { reviews: [{ code, proposal }] } },
    });
  await eventually(async () => {
    const { reviews } = (await bob('GET', '/api/v1/admin/reviews')).body as unknown as {
      reviews: { token: string }[];
    };
    expect(reviews.find((each) => each.token === token)).toMatchObject({
      code,
      proposal,
      proposedBy: 'ada@company.example',
    });
  }, settled);
  // Keys see the proposal, and no names of people.
  await eventually(async () => {
    for (const path of [`/api/v1/payments/${token}`, `/api/v1/payments/${token}/events`, '/api/v1/reviews']) {
      const text = JSON.stringify((await gateway('GET', path)).body);
      expect(text, path).toContain(proposal.reason);
      expect(text, path).not.toContain('company.example');
    }
  }, settled);
  expect(await resolve(bob, token)).toMatchObject({ statusCode: 200, body: { payment: { reviews: [] } } });
  const types = typesOf(await historyOf(gateway, 'payment', token));
  expect(types.filter((type) => type.startsWith('Review'))).toEqual([
    ...['ReviewOpened', 'ReviewResolutionProposed', 'ReviewResolved'],
  ]);
  expect((await resolve(ada, token)).statusCode).toBe(404);
});
