/** Several accounts at the Payment Service behind one gateway: routing, and failing accounts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginning, createEmbeddedEventStore } from '@tollgate/event-store';
import { paymentStream } from '@tollgate/core';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey, registerMerchant, tollgate } from './commands.ts';
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
let sandboxSystem: System;
let accountsFile: string;
let proxy: RefusingProxy;
let gateway: CallGateway;
let games: CallGateway;
/** The keys of the merchant of the account `second`, and of all other accounts. */
let second: CallSandbox;
let first: CallSandbox;
let orders = 0;

/** The same merchant under another URL: two accounts with the same URL and key are refused. */
const byName = (url: string): string => url.replace('127.0.0.1', 'localhost');

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
    { ...base, name: 'narrow', currencies: ['CHF'], concurrentCallsMax: 1 },
    { ...base, name: 'of-games', currencies: ['SEK'], teams: ['games'], baseUrl: byName(direct) },
  ];
}

beforeAll(async () => {
  const sandbox = await startSystem();
  sandboxSystem = sandbox;
  const { paymentServiceUrl, paymentServiceKey } = sandbox.quickstart;
  proxy = await startRefusingProxy(Number(new URL(paymentServiceUrl).port));
  const secondKey = await registerMerchant(sandbox, 'second');
  second = sandbox.sandboxAs(secondKey);
  first = sandbox.sandbox;
  const dataDir = newDataDir();
  accountsFile = join(dataDir, 'accounts.json');
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
  games = gatewaySystem.gatewayAs(await issueKey(gatewaySystem, 'games', scopes));
  for (const call of [gateway, games])
    await eventually(
      async () => expect((await call('GET', '/api/v1/payments')).statusCode).toBe(200),
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
const create = (body: object, team = gateway) => team('POST', '/api/v1/payments', { body });
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

  it('and its recurring token is charged with that account only', async () => {
    const taken = (await create(terms('USD', { card, recurring: true }))).body;
    await untilShown(taken.token, { status: 'approved', recurringToken: expect.any(String) });
    const { recurringToken } = await read(gateway, 'payment', taken.token);
    const charged = await create(terms('USD', { recurringToken }));
    expect(charged.statusCode).toBe(200);
    expect(await attemptsOf(charged.body.token)).toEqual(['1 second']);
    await untilShown(charged.body.token, { status: 'approved' });
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

describe('an account with restrictions', { timeout: 60_000 }, () => {
  it('accepts nothing of other teams and currencies, and nothing is recorded', async () => {
    const before = await recorded();
    const noAccount = [409, 'no_account'];
    expect(codeOf(await create(terms('SEK')))).toEqual(noAccount);
    expect(codeOf(await create(terms('JPY')))).toEqual(noAccount);
    expect(codeOf(await create(terms('JPY'), games))).toEqual(noAccount);
    expect(codeOf(await payout('SEK'))).toEqual(noAccount);
    expect(codeOf(await gateway('GET', '/api/v1/balance?currency=SEK'))).toEqual(noAccount);
    expect(await recorded()).toEqual(before);
  });

  it('accepts payments of its own team and currency', async () => {
    const taken = await create(terms('SEK'), games);
    expect(taken.statusCode).toBe(200);
    expect(await attemptsOf(taken.body.token)).toEqual(['1 of-games']);
    expect((await games('GET', '/api/v1/balance?currency=SEK')).statusCode).toBe(200);
  });
});

it(
  'one call at a time goes to an account with a limit of one, and no request is lost',
  { timeout: 60_000 },
  async () => {
    const delayMs = 250;
    const count = 10;
    const fault = { operation: 'create', fault: 'slow_reply', delayMs };
    await first('POST', '/sandbox/faults', [fault]);
    // Some exceed the maximum wait, get an error with that reason, and retry.
    const untilCreated = async (body: object) =>
      eventually(async () => {
        const answer = await create(body);
        if (answer.statusCode !== 200) expect(codeOf(answer)).toEqual([503, 'provider_unavailable']);
        expect(answer.statusCode).toBe(200);
        return answer.body.token;
      }, settled);
    const tokens = await Promise.all(Array.from({ length: count }, () => untilCreated(terms('CHF'))));
    await first('DELETE', '/sandbox/faults');
    const ledgers = await Promise.all(tokens.map((token) => ledgerOf(first, `${token}.`)));
    expect(ledgers.map(({ payments }) => payments.length)).toEqual(tokens.map(() => 1));
    const calls = ledgers.flatMap((ledger) => ledger.calls.filter(({ operation }) => operation === 'create'));
    expect(calls).toHaveLength(count);
    const [start, ...rest] = calls.map(({ at }) => Date.parse(at)).sort((a, b) => a - b);
    // Replies are slow, and each call waits for the previous answer; timers may fire slightly early.
    const gaps = rest.map((at, index) => at - ([start, ...rest][index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(delayMs - 5);
  },
);

describe('operators', () => {
  const codesIn = ({ body }: Answer) =>
    ((body as { errors?: { code: string }[] }).errors ?? []).map(({ code }) => code);
  const make = (currency: string) =>
    gateway('POST', '/api/v1/payments', {
      body: { product: 'Tea', amount: 1_000, currency, orderNumber: `closed-${(orders += 1)}` },
    });
  const onNarrow = ['--account', 'narrow', '--environment', 'sandbox', '--reason', 'Maintenance.'];

  it('pause an account and resume it, without a restart', async () => {
    await tollgate(gatewaySystem, 'account', 'pause', ...onNarrow);
    await eventually(async () => expect(codesIn(await make('CHF'))).toEqual(['account_paused']), settled);
    await tollgate(gatewaySystem, 'account', 'resume', ...onNarrow);
    await eventually(async () => expect((await make('CHF')).statusCode).toBe(200), settled);
  });

  it('add an account, without a restart', async () => {
    expect(codesIn(await make('NOK'))).toEqual(['no_account']);
    const { paymentServiceUrl, caFile } = sandboxSystem.quickstart;
    const added = { environment: 'sandbox', name: 'added', currencies: ['NOK'], privateKeyEnv: 'SECOND_KEY' };
    const accounts = [...accountsOf(sandboxSystem), { ...added, baseUrl: byName(paymentServiceUrl), caFile }];
    writeFileSync(accountsFile, JSON.stringify({ accounts }));
    await tollgate(gatewaySystem, 'account', 'reload');
    await eventually(async () => expect((await make('NOK')).statusCode).toBe(200), settled);
  });
});
