import { temporaryStore } from '@tollgate/event-store/testing';
import { createWebhookJournal } from '@tollgate/webhooks';
import { webhookSecretsOf, parseWebhookSecrets, systemIds } from '@tollgate/service-kit';
import { testTeamKeys } from '@tollgate/teams/testing';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

const [old, recent] = [`a:${'x'.repeat(32)}`, `b:${'y'.repeat(32)}`];

/** Runs command lines on a store with one payment that has two webhooks: one failed, one delivered. */
async function start(masters = old) {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const ids = { ...systemIds, fraction: () => 0 };
  const journal = createWebhookJournal({ store, clock, ids });
  const body = { token: 'pay_1', type: 'payment', orderNumber: null, amount: 5, currency: 'EUR' } as const;
  const common = { environment: 'sandbox', team: 'shop', url: 'https://shop.example/hook', at: 1 } as const;
  await journal.recordDue(
    'pay_1',
    [
      { id: 'whk_1', ...common, body: { ...body, status: 'pending' } },
      { id: 'whk_2', ...common, body: { ...body, status: 'approved' } },
    ],
    { correlationId: 'c', causationId: 'c' },
  );
  await journal.recordOutcome('pay_1', 'whk_1', { kind: 'failed', reason: 'timeout' });
  await journal.recordOutcome('pay_1', 'whk_2', { kind: 'answered', statusCode: 204 });
  const webhookSecrets = () => parseWebhookSecrets(masters);
  const tools = toolsWith({ store, clock, ids, teamKeys: testTeamKeys, webhookSecrets });
  const run = (command: string) => runWith(tools, command);
  return { run, journal, clock };
}

const secretOf = (master: string) =>
  webhookSecretsOf(parseWebhookSecrets(master), 'sandbox', 'shop')[0]?.reveal();

describe('webhook secret', () => {
  it('prints only the secret of a team', async () => {
    const { run } = await start();
    await run('team add shop');
    const command = 'webhook secret shop --environment sandbox';
    expect(await run(command)).toEqual({ exitCode: 0, out: `${secretOf(old)}\n`, error: '' });
    const { out } = await run('webhook secret shop --environment production');
    expect(out).not.toContain(secretOf(old));
  });

  it('prints both secrets during a rotation, the new one first', async () => {
    const { run } = await start(`${recent},${old}`);
    await run('team add shop');
    const { out } = await run('webhook secret shop --environment sandbox');
    expect(out).toBe(`${secretOf(recent)}\n${secretOf(old)}\n`);
  });
});

// A typing error in the team's name must not produce a secret, which would make the receiver reject every webhook.
it('webhook secret of a team that does not exist is refused', async () => {
  const { run } = await start();
  expect(await run('webhook secret nope --environment sandbox')).toEqual({
    exitCode: 1,
    out: '',
    error: 'Unknown team nope. List teams: team list.\n',
  });
});

describe('webhook rotate', () => {
  const secret = 'webhook secret shop --environment sandbox';
  const rotate = 'webhook rotate shop --environment sandbox';

  it('adds a new secret and keeps the former one until the overlap ends', async () => {
    const { run, clock } = await start();
    await run('team add shop');
    const { out: first } = await run(secret);
    expect((await run(rotate)).out).toContain('until 2030-01-08T00:00:00.000Z');
    const { out: both } = await run(secret);
    const [current = '', former] = both.trim().split('\n');
    expect([former, current === former]).toEqual([first.trim(), false]);
    await clock.advance(7 * 86_400_000);
    expect((await run(secret)).out).toBe(`${current}\n`);
    expect((await run('webhook secret shop --environment production')).out).not.toContain(current);
  });

  it('of one endpoint leaves the others unchanged', async () => {
    const { run } = await start();
    await run('team add shop');
    const { out: first } = await run(secret);
    const rotated = await run(`${rotate} --endpoint https://a.example --overlap 0d`);
    expect(rotated).toMatchObject({ exitCode: 0, out: expect.stringContaining('the new secret only') });
    expect(rotated.out).toContain('No endpoint of shop is at https://a.example');
    expect((await run(secret)).out).toBe(first);
    expect((await run(`${secret} --endpoint https://b.example`)).out).toBe(first);
    const { out } = await run(`${secret} --endpoint https://a.example`);
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(out).not.toBe(first);
  });

  it('of a team that does not exist is refused', async () => {
    const { run } = await start();
    const refused = await run('webhook rotate nobody --environment sandbox');
    expect(refused).toMatchObject({ exitCode: 1, out: '', error: expect.stringContaining('nobody') });
  });
});

describe('webhook list', () => {
  it('shows each webhook with its attempts', async () => {
    const { run } = await start();
    expect((await run('webhook list pay_1')).out).toBe(
      `whk_1  payment pending  open, next attempt 2030-01-01T00:00:05.000Z
   1  2030-01-01T00:00:00.000Z  failed  timeout
whk_2  payment approved  delivered
   1  2030-01-01T00:00:00.000Z  delivered  204
`,
    );
    const { out } = await run('webhook list pay_1 --json');
    expect(JSON.parse(out)).toMatchObject([{ id: 'whk_1' }, { id: 'whk_2', state: 'delivered' }]);
  });

  it('shows those of a payout by its token', async () => {
    const { run, journal } = await start();
    const body = { token: 'po_1', type: 'payout', orderNumber: 'P-1', amount: 5, currency: 'EUR' } as const;
    const common = { environment: 'sandbox', team: 'shop', url: 'https://shop.example/hook', at: 1 } as const;
    await journal.recordDue('po_1', [{ id: 'whk_3', ...common, body: { ...body, status: 'declined' } }], {
      correlationId: 'c',
      causationId: 'c',
    });
    expect((await run('webhook list po_1')).out).toBe('whk_3  payout declined  open\n');
    expect((await run('webhook replay po_1')).out).toContain('whk_3');
  });

  it('reports if there are none', async () => {
    const { run } = await start();
    expect(await run('webhook list pay_2')).toMatchObject({
      exitCode: 0,
      out: 'There are no webhooks of pay_2.\n',
    });
  });
});

describe('webhook replay', () => {
  it('requests one, or all', async () => {
    const { run, journal } = await start();
    const statesOf = async () =>
      (await journal.load('pay_1')).state.webhooks.map(({ state, nextAt }) => [state, nextAt === 0]);
    expect((await run('webhook replay pay_1 --id whk_2')).out).toContain('whk_2');
    expect(await statesOf()).toEqual([
      ['open', false],
      ['open', true],
    ]);
    expect(JSON.parse((await run('webhook replay pay_1 --json')).out)).toEqual(['whk_1', 'whk_2']);
    expect(await statesOf()).toEqual([
      ['open', true],
      ['open', true],
    ]);
  });

  it.each([
    ['webhook replay pay_2', 'There are no webhooks of pay_2.\n'],
    ['webhook replay pay_1 --id whk_9', 'whk_9 is no webhook of pay_1.\n'],
  ])('%s is refused', async (command, error) => {
    const { run } = await start();
    expect(await run(command)).toEqual({ exitCode: 1, out: '', error });
  });
});
