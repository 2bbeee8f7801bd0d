import { readFileSync, statSync } from 'node:fs';
import { type ObservedPayment } from '@tollgate/core';
import { createFakeProvider } from '@tollgate/core/testing';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { TollgateError, parseDataSecrets, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { projectPayment, happening, requested } from '@tollgate/views/testing';
import { expect, it } from 'vitest';
import { testTeamKeys } from '@tollgate/teams/testing';
import { runWith, toolsWith } from './testing/run-with.ts';
import { nameOfInstallation } from '@tollgate/event-store';

const madeAt = Date.UTC(2026, 9, 5, 12);

/** A gateway with the teams `shop` and `books`, and the account `main` with these payments. */
async function start(...payments: Partial<ObservedPayment>[]) {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.UTC(2026, 10, 1) });
  await nameOfInstallation({ store, clock, ids: systemIds });
  const fake = createFakeProvider(clock);
  payments.forEach((changes, index) => {
    const serviceToken = `service-${index + 1}`;
    fake.payments.set(serviceToken, {
      serviceToken,
      status: 'approved',
      amount: 1050,
      currency: 'EUR',
      createdAt: madeAt,
      orderNumber: `shop-${index + 1}`,
      authorizedAmount: 0,
      refundedAmount: 0,
      product: 'Tea',
      ...changes,
    });
  });
  const tools = toolsWith({
    store,
    clock,
    teamKeys: testTeamKeys,
    dataSecrets: () => parseDataSecrets(`k1:${'s'.repeat(32)}`),
    openAccount: (environment, name) => {
      if (name !== 'main') throw new TollgateError('account_not_found', `There is no account ${name}.`);
      return {
        environment,
        name,
        provider: fake.provider,
        weight: 1,
        priority: 0,
        concurrentCallsMax: 1,
        callsPerSecondMax: 1,
      };
    },
  });
  const run = (command: string) => runWith(tools, command);
  const adopt = (more = '', team = 'shop') =>
    run(`adopt --account main --environment sandbox --team ${team} --from 2026-10-04${more}`);
  for (const team of ['shop', 'books']) await run(`team add ${team}`);
  return { fake, run, adopt, store };
}

it('reports each day, and a table at the end', async () => {
  const { adopt } = await start({}, { refundedAmount: 50 }, { orderNumber: 'books-1' });
  const { exitCode, out, error } = await adopt(' --to 2026-10-06 --match orderNumber=^shop-');
  expect([exitCode, error]).toEqual([0, '']);
  expect(out.split('\n')).toEqual([
    '2026-10-04  adopted 0, before 0, left out 0',
    '2026-10-05  adopted 2, before 0, left out 1',
    '2026-10-06  adopted 2, before 0, left out 1',
    'Adopted: main (sandbox) to shop, 2026-10-04 to 2026-10-06',
    expect.stringMatching(/^ {2}adopted +2$/),
    expect.stringMatching(/^ {2}adopted before +0$/),
    expect.stringMatching(/^ {2}made by this gateway +0$/),
    expect.stringMatching(/^ {2}made by another gateway +0$/),
    expect.stringMatching(/^ {2}not matching +1$/),
    expect.stringMatching(/^ {2}adopted by another team +0$/),
    expect.stringMatching(/^ {2}not readable +0$/),
    expect.stringMatching(/^ {2}no longer found +0$/),
    expect.stringMatching(/^ {2}recurring tokens +0$/),
    '  approved 21.00 EUR, of that refunded 0.50 EUR',
    '',
  ]);
});

it('defaults to today, and prints one line of JSON on request', async () => {
  const { adopt } = await start({});
  const { out } = await adopt(' --json');
  expect(out.trim().split('\n')).toHaveLength(1);
  expect(JSON.parse(out)).toMatchObject({
    account: 'main',
    team: 'shop',
    to: '2026-11-01',
    isDryRun: false,
    outcomes: { adopted: 1 },
    sums: [{ currency: 'EUR', approved: '1050', refunded: '0' }],
  });
});

it('a dry run reports the changes and makes none', async () => {
  const { adopt } = await start({});
  expect((await adopt(' --dry-run')).out).toContain('Dry run, nothing was changed: main');
  expect(JSON.parse((await adopt(' --dry-run --json')).out)).toMatchObject({ outcomes: { adopted: 1 } });
  expect(JSON.parse((await adopt(' --json')).out)).toMatchObject({ outcomes: { adopted: 1 } });
});

it('requires all given conditions, and skips payments without the field', async () => {
  const { adopt } = await start({}, { orderNumber: 'shop-x' });
  const only = (more: string) =>
    adopt(` --dry-run --json${more}`).then(({ out }) => JSON.parse(out).outcomes);
  expect(await only(' --match orderNumber=^shop- --match product=^Tea$')).toMatchObject({ adopted: 2 });
  expect(await only(' --match orderNumber=^shop- --match product=Coffee')).toMatchObject({ not_matching: 2 });
  expect(await only(' --match orderNumber=x$ --match product=T')).toMatchObject({ adopted: 1 });
  expect(await only(' --match callbackUrl=.')).toMatchObject({ not_matching: 2 });
});

it('exits with 1 if a matching payment was not adopted, and names it', async () => {
  const { adopt } = await start({ status: 'frozen' }, {});
  await adopt('', 'books');
  const result = await adopt();
  expect(result).toMatchObject({ exitCode: 1, error: 'Payments that match were not adopted: 2.\n' });
  expect(result.out).toContain('  service-1  payment_not_readable  shop-1  status\n');
  expect(result.out).toContain('  service-2  adopted_by_another_team  shop-2  books\n');
  const json = await adopt(' --json');
  expect(JSON.parse(json.out)).toMatchObject({ outcomes: { adopted_by_another_team: 1 } });
  expect(json.exitCode).toBe(1);
});

it('names the first of many, and all in a file private to the owner', async () => {
  const { adopt } = await start(...Array.from({ length: 30 }, () => ({ status: 'frozen' })), {});
  const file = await temporaryFile();
  const { out } = await adopt(` --tokens ${file}`);
  expect(out.match(/payment_not_readable/g)).toHaveLength(20);
  expect(out).toContain('and 10 more; --tokens lists all');
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(lines).toHaveLength(31);
  expect(lines).toContainEqual({
    serviceToken: 'service-31',
    outcome: 'adopted',
    orderNumber: 'shop-31',
    token: expect.stringMatching(/^pay_[a-z2-7]{26}$/),
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('sends webhooks only to origins of the team', async () => {
  const { adopt, run, store } = await start({});
  const url = ' --callback-url https://shop.example/hooks';
  expect(await adopt(url)).toMatchObject({ exitCode: 1, error: expect.stringContaining('--callback-url') });
  await run('team allow-origins shop --callback https://shop.example');
  expect(await adopt(url)).toMatchObject({ exitCode: 0 });
  const file = await temporaryFile();
  await adopt(` --tokens ${file}`);
  const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token: string };
  const [event] = await Array.fromAsync(store.read(`payment-${token}`));
  expect(event?.data).toMatchObject({ terms: { callbackUrl: 'https://shop.example/hooks' } });
  expect(event?.metadata).toMatchObject({
    actor: { kind: 'person', name: 'os:unknown', source: 'command-line' },
  });
});

it.each([
  ['a team that is not there', { team: 'games' }, 'Unknown team games'],
  ['an account that is not there', { account: 'other' }, 'There is no account other'],
  ['days the wrong way round', { more: ' --to 2026-10-03' }, '--from is 2026-10-04'],
  ['a file that cannot be written', { more: ' --tokens /nowhere/at-all' }, '--tokens'],
])(
  'says in one sentence what is wrong: %s',
  async (
    _,
    { team = 'shop', account = 'main', more = '' }: Partial<Record<'team' | 'account' | 'more', string>>,
    named,
  ) => {
    const { run } = await start({});
    const { exitCode, out, error } = await run(
      `adopt --account ${account} --environment sandbox --team ${team} --from 2026-10-04${more}`,
    );
    expect([exitCode === 0, out]).toEqual([false, '']);
    expect(error).toContain(named);
    expect(error).toMatch(/^[^\n]+\.\n$/);
  },
);

it('finds a payment of the gateway by its token alone if the provider shows no order number', async () => {
  const { adopt, fake, store } = await start({});
  delete fake.payments.get('service-1')?.orderNumber;
  const request = requested();
  if (request.type !== 'PaymentRequested') throw new Error('another event');
  const attempt = { ...request.data.attempt, account: 'main' };
  const accepted = { ...happening.accepted.data, serviceToken: 'service-1' } as const;
  await projectPayment(store, 'pay_1', [
    { ...request, data: { ...request.data, attempt } },
    { type: 'AttemptAccepted', data: accepted },
  ]);
  expect(await adopt(' --json')).toMatchObject({
    error: '',
    out: expect.stringContaining('"made_by_gateway":1'),
  });
});
