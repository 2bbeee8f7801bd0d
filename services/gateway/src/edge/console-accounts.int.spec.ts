/** The merchant accounts in the console and by API: health, state, and balance. */
import type { Account } from '@tollgate/core';
import { createFakeProvider } from '@tollgate/core/testing';
import { StartupError, omitUndefined } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { hostile, startConsole } from './testing/console.ts';
import type { AccountsFile } from '@tollgate/merchant-accounts';

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
  { ...terms, name: 'broken', weight: 1, provider: broken.provider },
];

const start = (accountsFile?: AccountsFile) =>
  startConsole(async () => {}, { accounts, ...omitUndefined({ accountsFile }) });

async function asking(accountsFile?: AccountsFile) {
  const { askAs, recorded } = await start(accountsFile);
  const ask = (path: string, body: object) => askAs('operator', `accounts/${path}`, body);
  const list = async () => (await askAs('viewer', 'accounts')).json<AccountList>();
  return { ask, list, recorded };
}
interface AccountList {
  accounts: { account: string; state: string; lastChange?: object }[];
  hasFile: boolean;
}
const reason = 'The bank has announced maintenance.';
const codeIn = (answer: { json(): unknown }) =>
  (answer.json() as { errors?: { code: string; parameter?: string }[] }).errors?.[0];

it('are shown with share, rates and teams, without a call to the Payment Service', async () => {
  const { get } = await (await start()).signIn('viewer');
  const { body } = await get('/console/accounts');
  for (const text of ['75.0 %', '25.0 %', '0 of 8', 'shop, EUR', 'all teams', 'Closed'])
    expect(body).toContain(text);
  expect(main.balanceCalls).toBe(0);
});

it('are available by API', async () => {
  const { askAs } = await start();
  const ask = (path: string) => askAs('viewer', `accounts${path}`);
  expect((await ask('')).json()).toMatchObject({
    accounts: [{ account: 'main', weight: 3, priority: 0 }, {}],
  });
  expect((await ask('/production/main/balance?currency=EUR')).json()).toHaveProperty('wallet.available');
  expect((await ask('/production/none/balance?currency=EUR')).json()).toMatchObject({
    errors: [{ code: 'account_not_found' }],
  });
  expect((await ask('/production/broken/balance?currency=EUR')).statusCode).toBe(503);
  expect((await ask('/production/main/balance')).statusCode).toBe(400);
});

describe('an account', () => {
  it('is paused, drained and resumed by an operator, with person and reason visible to all', async () => {
    const { ask, list, recorded } = await asking();
    for (const [name, state] of [
      ['pause', 'paused'],
      ['pause', 'paused'],
      ['drain', 'draining'],
      ['resume', 'active'],
    ] as const) {
      const answer = await ask(`production/main/${name}`, { reason });
      expect(answer.json()).toEqual({ success: true, environment: 'production', account: 'main', state });
      const { accounts: listed } = await list();
      const lastChange = { at: expect.any(String), by: 'ada', reason };
      expect(listed).toMatchObject([{ account: 'main', state, lastChange }, { state: 'active' }]);
    }
    expect(recorded[0]).toMatchObject({
      command: 'POST /api/v1/admin/accounts/:environment/:account/pause',
      detail: { environment: 'production', account: 'main', role: 'operator' },
    });
  });

  // A field in the body replaced the name in the URL.
  it('is named in the security log as in the URL, whatever the body contains', async () => {
    const { ask, recorded } = await asking();
    await ask('production/main/pause', { reason, environment: 'sandbox', account: 'other', team: 'another' });
    expect(recorded[0]?.detail).toMatchObject({
      environment: 'production',
      account: 'main',
      role: 'operator',
    });
  });

  it('must exist to be changed, which requires a reason', async () => {
    const { ask } = await asking();
    expect(codeIn(await ask('sandbox/main/pause', { reason }))).toMatchObject({ code: 'account_not_found' });
    expect(codeIn(await ask('production/mian/drain', { reason }))).toMatchObject({
      code: 'account_not_found',
    });
    for (const wrong of ['', '   ', 7, '4392963203551251'])
      expect(codeIn(await ask('production/main/pause', { reason: wrong }))).toMatchObject({
        code: 'invalid_param',
        parameter: 'reason',
      });
  });

  it('is paused and resumed in the console, with any text as the reason', async () => {
    const { signIn } = await start();
    const { get, sendAndRead } = await signIn('operator');
    const paused = await sendAndRead('/console/accounts/pause', {
      account: 'production/main',
      reason: hostile,
    });
    for (const text of ['production/main is paused.', 'Paused', '&quot;&gt;&lt;script&gt;', 'Paused by ada,'])
      expect(paused).toContain(text);
    expect(paused).not.toMatch(/<script>alert|<img src=x/);
    const wrong = await sendAndRead('/console/accounts/drain', { account: hostile, reason });
    expect(wrong).toContain('No merchant account has this name');
    const resumed = await sendAndRead('/console/accounts/resume', { account: 'production/main', reason });
    expect(resumed).toContain('production/main is active.');
    expect((await get('/console/accounts')).body).not.toContain('Reload the accounts file');
    const viewer = await (await signIn('support')).get('/console/accounts');
    expect(viewer.body).toContain('Operators and admins pause accounts; your role is support.');
  });
});

describe('the accounts file', () => {
  const differences = { added: ['production/new'], changed: [], removed: [] };
  const file = (faults: { now?: string }) => {
    const use = () => {
      if (faults.now !== undefined) throw new StartupError('config_invalid', faults.now);
      return differences;
    };
    return { compare: use, reload: use };
  };

  it('is read again on demand, and one that cannot be used is reported', async () => {
    const faults: { now?: string } = {};
    const { ask, list } = await asking(file(faults));
    expect((await ask('reload', {})).json()).toEqual({ success: true, ...differences });
    faults.now = 'The accounts file is not JSON.';
    expect(codeIn(await ask('reload', {}))).toMatchObject({
      code: 'accounts_file_invalid',
      message: faults.now,
    });
    expect(await list()).toMatchObject({ hasFile: true });
  });

  it('is hidden if the account is that of the sandbox', async () => {
    const { ask, list } = await asking();
    expect(codeIn(await ask('reload', {}))).toMatchObject({ code: 'accounts_file_missing' });
    expect(await list()).toMatchObject({ hasFile: false });
  });

  it('is read again in the console', async () => {
    const { signIn } = await start(file({}));
    const { sendAndRead } = await signIn('admin');
    expect(await sendAndRead('/console/accounts/reload', {})).toContain('Added: production/new.');
  });
});
