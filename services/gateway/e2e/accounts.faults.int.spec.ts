/** Several accounts at the Payment Service behind one gateway: routing, and failing accounts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginning, createEmbeddedEventStore } from '@tollgate/event-store';
import { paymentStream } from '@tollgate/core';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey, registerMerchant } from './commands.ts';
import { historyOf, ledgerOf, read } from './ledger.ts';
import { type RefusingProxy, startRefusingProxy } from './refusing-proxy.ts';
import {
  type Answer,
  type CallGateway,
  type CallSandbox,
  type System,
  newDataDir,
  startSystem,
  stopEverything,
} from './system.ts';

const card = { pan: '4392963203551251', expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };
const settled = { timeoutMs: 30_000 };

let gatewaySystem: System;
let proxy: RefusingProxy;
let gateway: CallGateway;
/** The keys of the merchant of the account `second`, and of all other accounts. */
let second: CallSandbox;
let first: CallSandbox;
let orders = 0;

/** Each situation has its own currency, so that one gateway serves all of them. */
function accountsOf(sandbox: System): object[] {
  const { paymentServiceUrl: direct, caFile } = sandbox.quickstart;
  const behindProxy = new URL(direct);
  behindProxy.port = String(proxy.port);
  const base = { environment: 'sandbox', baseUrl: direct, privateKeyEnv: 'FIRST_KEY', caFile };
  return [
    { ...base, name: 'wrong-key', currencies: ['EUR'], privateKeyEnv: 'WRONG_KEY' },
    // No process listens there, and only root could.
    { ...base, name: 'gone', currencies: ['USD'], baseUrl: 'https://127.0.0.1:1', failuresInARowMax: 1_000 },
    { ...base, name: 'second', currencies: ['EUR', 'USD'], privateKeyEnv: 'SECOND_KEY', priority: 1 },
    { ...base, name: 'away', currencies: ['GBP'], baseUrl: behindProxy.origin, failuresInARowMax: 3 },
  ];
}

beforeAll(async () => {
  const sandbox = await startSystem();
  const { paymentServiceUrl, paymentServiceKey } = sandbox.quickstart;
  proxy = await startRefusingProxy(Number(new URL(paymentServiceUrl).port));
  const secondKey = await registerMerchant(sandbox, 'second');
  second = sandbox.sandboxAs(secondKey);
  first = sandbox.sandbox;
  const dataDir = newDataDir();
  const accountsFile = join(dataDir, 'accounts.json');
  writeFileSync(accountsFile, JSON.stringify({ accounts: accountsOf(sandbox) }));
  const keys = { FIRST_KEY: paymentServiceKey, SECOND_KEY: secondKey };
  const wrong = { WRONG_KEY: `sk_sandbox_${'0123456789abcdef'.repeat(3)}` };
  const ports = { GATEWAY_PORT: '0', CALLBACK_PORT: '0' };
  gatewaySystem = await startSystem({
    dataDir,
    inFrontOf: sandbox,
    env: { ...keys, ...wrong, ...ports, PROVIDER_ACCOUNTS_FILE: accountsFile },
  });
  const scopes = 'payments,refunds,payouts,read,cards,stored-cards';
  gateway = gatewaySystem.gatewayAs(await issueKey(gatewaySystem, 'demo', scopes));
  await eventually(
    async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200),
    settled,
  );
}, 90_000);
afterAll(async () => {
  await stopEverything();
  await proxy.close();
});

const terms = (currency: string, more: object = {}) => {
  orders += 1;
  return { product: 'Tea', amount: 1_000, currency, orderNumber: `order-${orders}`, ...more };
};
const create = (body: object) => gateway('POST', '/api/v1/payments', { body });
const refund = (token: string, key: string) =>
  gateway('POST', '/api/v1/refunds', { body: { token, amount: 300 }, headers: { 'idempotency-key': key } });
const payout = (currency: string) => {
  const destination = { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } };
  const { product: _, ...wanted } = terms(currency, { amount: 7, destination });
  return gateway('POST', '/api/v1/payouts', { body: wanted });
};
const codeOf = ({ statusCode, body }: Answer) => [statusCode, body.errors[0]?.code];
const untilShown = (token: string, expected: object) =>
  eventually(async () => expect(await read(gateway, 'payment', token)).toMatchObject(expected), settled);

/** Runs against the store itself, as another process on the machine: teams are not shown the accounts. */
async function inStore<Result>(
  work: (store: Awaited<ReturnType<typeof createEmbeddedEventStore>>) => Promise<Result>,
): Promise<Result> {
  const store = await createEmbeddedEventStore({ file: join(gatewaySystem.dataDir, 'events.db') });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

interface StoredAttempt {
  number: number;
  account: string;
}

const attemptsOf = (token: string) =>
  inStore(async (store) => {
    const attempts: string[] = [];
    for await (const { data } of store.read(paymentStream(token))) {
      const { attempt } = data as { attempt?: StoredAttempt };
      if (attempt !== undefined) attempts.push(`${attempt.number} ${attempt.account}`);
    }
    return attempts;
  });

/** The streams of all payments and payouts: each recorded one has a stream. */
const recorded = () =>
  inStore(async (store) => {
    const streams = new Set<string>();
    const { signal } = new AbortController();
    for await (const item of store.subscribe({
      from: beginning,
      prefixes: ['payment-', 'payout-'],
      signal,
    })) {
      if (item.kind === 'caught-up') break;
      streams.add(item.stream);
    }
    return [...streams].sort();
  });

const typesOf = async (token: string) => (await historyOf(gateway, 'payment', token)).map(({ type }) => type);

describe('a creation falls over to the next account', { timeout: 60_000 }, () => {
  it('if the first one’s key is refused', async () => {
    const { statusCode, body } = await create(terms('EUR'));
    expect(statusCode).toBe(200);
    expect(await attemptsOf(body.token)).toEqual(['1 wrong-key', '2 second']);
    expect(await typesOf(body.token)).toEqual([
      ...['PaymentRequested', 'AttemptRefused', 'AttemptStarted', 'AttemptAccepted'],
    ]);
    const { payments, calls } = await ledgerOf(second, `${body.token}.`);
    expect(payments).toMatchObject([{ orderNumber: `${body.token}.2` }]);
    expect(calls.filter(({ operation }) => operation === 'create')).toHaveLength(1);
  });

  it('if the first one cannot be reached; later calls use the account that accepted it', async () => {
    const { statusCode, body } = await create(terms('USD', { card, needConfirmation: true }));
    expect(statusCode).toBe(200);
    const { token } = body;
    expect(await attemptsOf(token)).toEqual(['1 gone', '2 second']);
    expect((await typesOf(token)).slice(0, 4)).toEqual([
      ...['PaymentRequested', 'AttemptNotSent', 'AttemptStarted', 'AttemptAccepted'],
    ]);
    await untilShown(token, { phase: 'authorized' });
    const confirmed = await gateway('POST', '/api/v1/payments/confirm', { body: { token } });
    expect([confirmed.statusCode, confirmed.body.payment.status]).toEqual([200, 'approved']);
    expect((await refund(token, 'of-second')).statusCode).toBe(200);
    await untilShown(token, { status: 'approved', refundedAmount: 300 });

    const ledger = await ledgerOf(second, `${token}.`);
    expect(ledger.payments).toMatchObject([{ status: 'approved', refundedAmount: 300 }]);
    const moved = ledger.calls.filter(({ effect }) => effect !== 'none');
    expect(moved.map(({ operation }) => operation)).toEqual(['create', 'confirm', 'refund']);
    expect((await ledgerOf(first, token)).calls).toEqual([]);
  });
});

describe('if no account can be reached', { timeout: 60_000 }, () => {
  const unavailable = [503, 'provider_unavailable'];

  /** Nothing was recorded: an error without a token, and with Retry-After. */
  const expectNotBegun = (answer: Answer) => {
    expect(codeOf(answer)).toEqual(unavailable);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.body.token).toBeUndefined();
  };

  it('nothing is recorded once the outage is known, and payments resume when the service is back', async () => {
    const { token } = (await create(terms('GBP', { card }))).body;
    const authorized = (await create(terms('GBP', { card, needConfirmation: true }))).body;
    await untilShown(token, { status: 'approved' });
    await untilShown(authorized.token, { phase: 'authorized' });
    proxy.refuse();
    // The first creations detect the outage.
    await eventually(async () => expectNotBegun(await create(terms('GBP'))), settled);

    const before = {
      streams: await recorded(),
      histories: [await typesOf(token), await typesOf(authorized.token)],
    };
    const wanted = terms('GBP');
    const refused = [
      await create(wanted),
      await payout('GBP'),
      await refund(token, 'while-away'),
      await gateway('POST', '/api/v1/payments/confirm', { body: { token: authorized.token } }),
    ];
    refused.forEach(expectNotBegun);
    const path = `/api/v1/payments?orderNumber=${wanted.orderNumber}`;
    expect((await gateway('GET', path)).body.payments).toEqual([]);
    expect(await recorded()).toEqual(before.streams);
    expect([await typesOf(token), await typesOf(authorized.token)]).toEqual(before.histories);

    proxy.letThrough();
    const created = await eventually(async () => {
      const answer = await create(wanted);
      expect(answer.statusCode).toBe(200);
      return answer;
    }, settled);
    expect(created.headers['idempotent-replayed']).toBeUndefined();
    expect(await attemptsOf(created.body.token)).toEqual(['1 away']);
    expect((await refund(token, 'while-away')).statusCode).toBe(200);
    const confirmed = await gateway('POST', '/api/v1/payments/confirm', {
      body: { token: authorized.token },
    });
    expect(confirmed.statusCode).toBe(200);
    const { refunds } = await ledgerOf(first, `${token}.`);
    expect(refunds.map(({ amount }) => amount)).toEqual([300]);
  });
});
