/** The merchant accounts in the console: how they fare, and their balance when somebody asks for it. */
import type { Account } from '@tollgate/command-service';
import { createFakeProvider } from '@tollgate/provider/testing';
import { expect, it } from 'vitest';
import { hostile, startConsole } from './testing/console.ts';

const main = createFakeProvider();
const broken = createFakeProvider();
broken.answersInquiries = false;

const terms = {
  environment: 'production',
  priority: 0,
  concurrentCallsMax: 8,
  callsPerSecondMax: 50,
} as const;
const accounts: readonly Account[] = [
  { ...terms, name: 'main', weight: 3, provider: main.provider, teams: ['shop'], currencies: ['EUR'] },
  { ...terms, name: 'broken', weight: 1, provider: broken.provider, totalPerSecondMax: 60 },
];

const start = () => startConsole(async () => {}, { accounts });

it('are shown with share, rates and whom they serve, and nobody asks the Payment Service for that', async () => {
  const { get } = await (await start()).signIn('viewer');
  const { body } = await get('/console/accounts');
  for (const text of [
    '75.0 %',
    '25.0 %',
    '0 of 8',
    '60 with inquiries',
    'shop, EUR',
    'all teams',
    'closed: it is called',
  ])
    expect(body).toContain(text);
  expect(main.balanceCalls).toBe(0);
});

it('show a balance on demand, and why there is none', async () => {
  const { get } = await (await start()).signIn('viewer');
  const ask = async (account: string, currency: string) =>
    (await get(`/console/accounts?${new URLSearchParams({ balance: account, currency }).toString()}`)).body;
  expect(await ask('production/main', 'EUR')).toMatch(/Available[^]*EUR/);
  expect(main.balanceCalls).toBe(1);
  expect(await ask('production/broken', 'EUR')).toContain('gave no usable answer');
  expect(await ask('sandbox/main', 'EUR')).toContain('No merchant account of this name');
  expect(await ask(hostile, hostile)).not.toMatch(/<script>alert|<img src=x/);
  expect(await ask('production/main', 'euro')).toContain('data-outcome');
});

it('are told to programs, too', async () => {
  const { app, credentials } = await start();
  const credential = credentials.issue(
    { person: 'ada', source: 'command-line', role: 'viewer' },
    'api',
    60_000,
  );
  const ask = (url: string) =>
    app.inject({ url: `/api/v1/admin/accounts${url}`, headers: { authorization: `Bearer ${credential}` } });
  expect((await ask('')).json()).toMatchObject({
    accounts: [{ account: 'main', weight: 3, priority: 0 }, {}],
  });
  expect((await ask('/production/none/balance?currency=EUR')).json()).toMatchObject({
    errors: [{ code: 'account_not_found' }],
  });
  expect((await ask('/production/broken/balance?currency=EUR')).statusCode).toBe(503);
  expect((await ask('/production/main/balance')).statusCode).toBe(400);
});
