/**
 * Separate balances of teams on one merchant account, from the teams' and operators' perspective: a team cannot pay out
 * another team's money.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayJournalTopic, type JournalEntryOnTopic } from '@tollgate/gateway-api';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { issueKey, operatorOf, tollgate, tollgateExit } from './commands.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';
import { textsOnTopics } from './topic.ts';

const settled = { timeoutMs: 30_000 };
const destination = { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } };

let system: System;
let shop: CallGateway;
let stranger: CallGateway;
let paymentToken: string;

const payOut = (team: CallGateway, orderNumber: string, amount: number) =>
  team('POST', '/api/v1/payouts', { body: { amount, currency: 'EUR', orderNumber, destination } });
const walletOf = async (team: CallGateway) => {
  const { body } = await team('GET', '/api/v1/balance?currency=EUR');
  return (body as unknown as { wallet: object }).wallet;
};
/** The balance of a wallet with this amount available. */
const has = (available: number, parts: { reserved?: number; notSettled?: number } = {}) => {
  const { reserved = 0, notSettled = 0 } = parts;
  return { currency: 'EUR', available, hold: reserved + notSettled, reserved, disputed: 0, notSettled };
};
const settle = () => system.sandbox('POST', '/sandbox/clock', { advanceMs: 2 * 86_400_000 });
const exceeds = { code: 'payout_exceeds_balance', kind: 'processing_error', parameter: 'amount' };

beforeAll(async () => {
  system = await startSystem();
  const scopes = 'payments,refunds,payouts,read';
  shop = system.gatewayAs(await issueKey(system, 'shop', scopes));
  stranger = system.gatewayAs(await issueKey(system, 'stranger', scopes));
  for (const team of [shop, stranger])
    await eventually(
      async () => expect((await team('GET', '/api/v1/payments')).statusCode).toBe(200),
      settled,
    );
  const body = { product: 'Tea', amount: 99_900, currency: 'EUR', orderNumber: 'order-1' };
  const created = (await shop('POST', '/api/v1/payments', { body })).body;
  paymentToken = created.token;
  await payOnHostedPage(system.customer, { processingUrl: created.processingUrl, card: '4392963203551251' });
  await eventually(async () => expect(await walletOf(shop)).toEqual(has(0, { notSettled: 99_900 })), settled);
  await settle();
  await eventually(async () => expect(await walletOf(shop)).toEqual(has(99_900)), settled);
}, 60_000);
afterAll(stopEverything);

describe('a team without income', () => {
  it("pays out nothing, and sees nothing of other teams' money", async () => {
    const { statusCode, body } = await payOut(stranger, 'payout-1', 99_000);
    expect([statusCode, body.errors]).toMatchObject([409, [exceeds]]);
    expect(body.errors[0]).toMatchObject({ message: expect.stringContaining('at most 0.00 EUR') });
    expect(await walletOf(stranger)).toEqual(has(0));
    const { body: payouts } = await stranger('GET', '/api/v1/payouts');
    expect((payouts as unknown as { payouts: object[] }).payouts).toEqual([]);
  });

  it('so the other team can refund its customer, and pay out the rest', async () => {
    const headers = { 'idempotency-key': 'refund-1' };
    const refunded = await shop('POST', '/api/v1/refunds', {
      body: { token: paymentToken, amount: 900 },
      headers,
    });
    expect(refunded.statusCode).toBe(200);
    expect((await payOut(shop, 'payout-1', 99_001)).body.errors).toMatchObject([exceeds]);
    expect((await payOut(shop, 'payout-1', 90_000)).statusCode).toBe(200);
    expect(await walletOf(shop)).toEqual(has(9_000));
  });
});

it('an operator lets teams share a wallet, and transfers money into it', async () => {
  for (const name of ['shop', 'stranger'])
    await tollgate(system, 'team', 'wallet', name, '--shared', 'group');
  await eventually(async () => expect(await walletOf(shop)).toEqual(has(0)), settled);
  const admin = await operatorOf(system, 'ada', 'admin');
  const transfer = (amount: number) => {
    const of = { account: 'sandbox', environment: 'sandbox', currency: 'EUR', reason: 'one shop' };
    const body = { ...of, from: 'team-shop', to: 'wallet-group', amount };
    const headers = { 'idempotency-key': `transfer-${amount}` };
    return admin('POST', '/api/v1/admin/transfers', { body, headers });
  };
  expect((await transfer(9_001)).statusCode).toBe(409);
  expect((await transfer(9_000)).statusCode).toBe(200);
  await eventually(async () => expect(await walletOf(stranger)).toEqual(has(9_000)), settled);
  expect((await payOut(stranger, 'payout-2', 9_001)).body.errors).toMatchObject([exceeds]);
  expect((await payOut(stranger, 'payout-2', 4_000)).statusCode).toBe(200);
  expect(await walletOf(shop)).toEqual(has(5_000));
});

it("a team's journal and the topic have the same entries, each once", async () => {
  await eventually(async () => {
    const lines = (await textsOnTopics(system)).get(gatewayJournalTopic)?.split('\n') ?? [];
    const onTopic = lines.map((line) => {
      const { value } = JSON.parse(line) as { value: string };
      return (JSON.parse(value) as { entry: JournalEntryOnTopic }).entry;
    });
    const entriesOf = (name: string | undefined) => onTopic.filter(({ team }) => team === name);
    for (const [name, team] of [['shop', shop] as const, ['stranger', stranger] as const]) {
      const { body } = await team('GET', '/api/v1/journal?perPage=100');
      const { entries } = body as unknown as { entries: JournalEntryOnTopic[] };
      const listed = entries.map((entry) => ({ ...entry, environment: 'sandbox' as const, team: name }));
      const byId = (all: JournalEntryOnTopic[]) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(byId(entriesOf(name))).toEqual(byId(listed));
      expect(listed.length).toBeGreaterThan(1);
    }
    expect(entriesOf(undefined)).toMatchObject([{ kind: 'transfer', wallet: 'wallet-group' }]);
  }, settled);
});

it("an operator lets a team pay out from the provider's balance, which it can then read", async () => {
  const { stdout } = await tollgateExit(system, 'ledger', 'verify');
  expect(stdout).toMatch(/Every entry sums to zero\. The index has the same balances\.\n$/);
  await tollgate(system, 'team', 'wallet', 'stranger', '--provider-balance');
  await eventually(async () => {
    expect((await payOut(stranger, 'payout-3', 5_000)).statusCode).toBe(200);
  }, settled);
  expect(await walletOf(stranger)).toEqual({ currency: 'EUR', available: 0, hold: 0 });
  // Another wallet's money is no longer included.
  await eventually(async () => expect(await walletOf(shop)).toEqual(has(0, { notSettled: 5_000 })), settled);
});

it('one sandbox command gives the demo team money for payouts at once', async () => {
  const program = join(import.meta.dirname, '..', '..', 'cli', 'src', 'sandbox', 'main.ts');
  const env = { ...process.env, TOLLGATE_DATA_DIR: system.dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'fund', '5000'], { env });
  expect(stdout).toMatch(/^The demo team took 50\.00 EUR by pay_\w+, and can pay out 50\.00 EUR now \(5000 /);
  const demo = system.gatewayAs(await issueKey(system, 'demo', 'payouts,read'));
  // Its new key is valid within a second.
  await eventually(async () => expect((await payOut(demo, 'payout-1', 5_000)).statusCode).toBe(200), settled);
});
