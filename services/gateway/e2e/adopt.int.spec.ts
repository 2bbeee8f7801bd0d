/** A team that has called the Payment Service directly migrates to the gateway, with its payments. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueKey, tollgate } from './commands.ts';
import { hint, historyOf, ledgerOf, read } from './ledger.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';

const settled = { timeoutMs: 20_000 };
const card = '4392963203551251';

let system: System;
let shop: CallGateway;

beforeAll(async () => {
  system = await startSystem();
  shop = system.gatewayAs(await issueKey(system, 'shop', 'payments,refunds,read,stored-cards,admin'));
  await eventually(async () => expect((await shop('GET', '/api/v1/payments')).statusCode).toBe(200), settled);
}, 120_000);
afterAll(stopEverything);

interface Made {
  orderNumber: string;
  token: string;
}

/** The shop's previous direct call to the provider. */
async function make(orderNumber: string, more: object = {}): Promise<Made> {
  const terms = { product: 'Tea', amount: 1000, currency: 'EUR', callbackUrl: 'https://shop.example/hooks' };
  const { statusCode, body } = await system.sandbox('POST', '/api/v1/payments', {
    ...terms,
    orderNumber,
    ...more,
  });
  expect(statusCode).toBe(200);
  return { orderNumber, token: body.token };
}
const pay = ({ token }: Made) => system.sandbox('POST', `/sandbox/payments/${token}/pay`, { pan: card });

const adopt = (...more: string[]) =>
  tollgate<{ outcomes: Record<string, number>; recurringTokens: number }>(
    system,
    ...['adopt', '--account', 'sandbox', '--environment', 'sandbox', '--team', 'shop'],
    ...['--from', new Date().toISOString().slice(0, 10), '--match', 'orderNumber=^shop-'],
    ...more,
  );

/** Our token for each of the shop's, from the command's file. */
function tokensIn(file: string): Record<string, { token: string; recurringToken: string }> {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as Record<string, string>);
  return Object.fromEntries(rows.map((row) => [row['orderNumber'], row])) as never;
}

const callsOf = async () =>
  (await ledgerOf(system.sandbox)).calls.filter(({ effect }) => effect !== 'none').length;

it('adopts existing payments: without a call that moves money, once, and refundable', async () => {
  const whole = await make('shop-whole', { recurring: true });
  const partly = await make('shop-partly');
  const open = await make('shop-open');
  const authorized = await make('shop-authorized', { needConfirmation: true });
  await make('books-1');
  for (const each of [whole, partly, authorized]) await pay(each);
  await system.sandbox('POST', '/api/v1/refunds', { token: partly.token, amount: 300 });
  const own = await shop('POST', '/api/v1/payments', {
    body: { product: 'Tea', amount: 5, currency: 'EUR', orderNumber: 'shop-own' },
  });
  const moved = await callsOf();

  expect((await adopt('--dry-run')).outcomes).toMatchObject({ adopted: 4, not_matching: 2 });
  expect((await shop('GET', '/api/v1/payments?orderNumber=shop-whole')).body.payments).toEqual([]);

  const file = join(system.dataDir, 'tokens.jsonl');
  expect(await adopt('--tokens', file)).toMatchObject({ outcomes: { adopted: 4 }, recurringTokens: 1 });
  const again = join(system.dataDir, 'tokens-again.jsonl');
  expect((await adopt('--tokens', again)).outcomes).toMatchObject({ adopted: 0, adopted_before: 4 });
  const tokens = tokensIn(file);
  expect(Object.keys(tokens).sort()).toEqual(['shop-authorized', 'shop-open', 'shop-partly', 'shop-whole']);
  for (const [orderNumber, { token }] of Object.entries(tokens)) {
    expect(await historyOf(shop, 'payment', token)).toMatchObject([{ type: 'PaymentAdopted' }]);
    expect(tokensIn(again)[orderNumber]?.token).toBe(token);
    await eventually(async () => {
      const listed = await shop('GET', `/api/v1/payments?orderNumber=${orderNumber}`);
      expect(listed.body.payments).toMatchObject([{ token, orderNumber }]);
    }, settled);
  }
  expect(await callsOf()).toBe(moved);

  // From here on they are ordinary payments.
  const tokenOf = (orderNumber: string) => tokens[orderNumber]?.token ?? '';
  const refund = (orderNumber: string, amount?: number) =>
    shop('POST', '/api/v1/refunds', {
      body: { token: tokenOf(orderNumber), ...(amount === undefined ? {} : { amount }) },
      headers: { 'idempotency-key': `refund ${orderNumber} ${amount}` },
    });
  expect((await refund('shop-partly', 701)).body.errors).toMatchObject([{ code: 'refund_exceeds_amount' }]);
  for (const [orderNumber, amount] of [
    ['shop-partly', 500],
    ['shop-whole', undefined],
  ] as const)
    expect((await refund(orderNumber, amount)).statusCode).toBe(200);
  const captured = { body: { token: tokenOf('shop-authorized') } };
  expect((await shop('POST', '/api/v1/payments/confirm', captured)).statusCode).toBe(200);
  // The callback goes to the shop's own URL, not to ours: an inquiry finds the payment approved.
  await pay(open);
  await hint(system, tokenOf('shop-open'));
  const { recurringToken } = tokens['shop-whole'] ?? { recurringToken: '' };
  const charge = { product: 'Tea', amount: 70, currency: 'EUR', orderNumber: 'charge-1', recurringToken };
  expect((await shop('POST', '/api/v1/payments', { body: charge })).statusCode).toBe(200);

  const ledger = await ledgerOf(system.sandbox);
  for (const { orderNumber, token } of [whole, partly, authorized, open])
    await eventually(async () => {
      const shown = ledger.payments.find((payment) => payment.token === token);
      const { status, amount, refundedAmount } = { ...shown };
      const view = await read(shop, 'payment', tokenOf(orderNumber));
      expect(view, orderNumber).toMatchObject({ status, amount, refundedAmount });
    }, settled);
  expect((await shop('GET', '/api/v1/reviews')).body).toMatchObject({ reviews: [] });
  // The gateway's own payments are unchanged.
  expect((await historyOf(shop, 'payment', own.body.token))[0]).toMatchObject({ type: 'PaymentRequested' });
}, 120_000);
