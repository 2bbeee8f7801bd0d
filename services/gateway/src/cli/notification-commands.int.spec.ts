import { temporaryStore } from '@tollgate/event-store/testing';
import { createNotificationJournal } from '@tollgate/notifier';
import { notificationSecretsOf, parseNotificationSecrets, silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from './program.ts';

const [old, recent] = [`a:${'x'.repeat(32)}`, `b:${'y'.repeat(32)}`];

/** Runs command lines on a store with one payment that has two notifications: one failed, one delivered. */
async function start(masters = old) {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const ids = { ...systemIds, fraction: () => 0 };
  const journal = createNotificationJournal({ store, clock, ids });
  const body = { token: 'pay_1', type: 'payment', orderNumber: null, amount: 5, currency: 'EUR' } as const;
  const common = { environment: 'sandbox', team: 'shop', url: 'https://shop.example/hook', at: 1 } as const;
  await journal.recordDue(
    'pay_1',
    [
      { id: 'ntf_1', ...common, body: { ...body, status: 'pending' } },
      { id: 'ntf_2', ...common, body: { ...body, status: 'approved' } },
    ],
    { correlationId: 'c', causationId: 'c' },
  );
  await journal.recordOutcome('pay_1', 'ntf_1', { kind: 'failed', reason: 'timeout' });
  await journal.recordOutcome('pay_1', 'ntf_2', { kind: 'answered', statusCode: 204 });
  const tools = {
    ...{ store, clock, ids, log: silentLog, directory: {} as never },
    notificationSecrets: () => parseNotificationSecrets(masters),
  };
  const run = async (command: string) => {
    const output = { out: '', error: '' };
    const exitCode = await runCommandLine(command.split(' '), {
      open: async () => ({ tools, close: async () => undefined }),
      print: (text) => (output.out += text),
      complain: (text) => (output.error += text),
    });
    return { exitCode, ...output };
  };
  return { run, journal };
}

const secretOf = (master: string) =>
  notificationSecretsOf(parseNotificationSecrets(master), 'sandbox', 'shop')[0]?.reveal();

describe('notification secret', () => {
  it('prints the secret of a team and nothing else', async () => {
    const { run } = await start();
    const command = 'notification secret shop --environment sandbox';
    expect(await run(command)).toEqual({ exitCode: 0, out: `${secretOf(old)}\n`, error: '' });
    const { out } = await run('notification secret shop --environment production');
    expect(out).not.toContain(secretOf(old));
  });

  it('prints both during a rotation, the new one first', async () => {
    const { run } = await start(`${recent},${old}`);
    const { out } = await run('notification secret shop --environment sandbox');
    expect(out).toBe(`${secretOf(recent)}\n${secretOf(old)}\n`);
  });
});

describe('notification list', () => {
  it('shows each notification with its tries', async () => {
    const { run } = await start();
    expect((await run('notification list pay_1')).out).toBe(
      `ntf_1  payment pending  open, next try 2030-01-01T00:00:05.000Z
   1  2030-01-01T00:00:00.000Z  failed  timeout
ntf_2  payment approved  delivered
   1  2030-01-01T00:00:00.000Z  delivered  204
`,
    );
    const { out } = await run('notification list pay_1 --json');
    expect(JSON.parse(out)).toMatchObject([{ id: 'ntf_1' }, { id: 'ntf_2', state: 'delivered' }]);
  });

  it('shows those of a payout by its token', async () => {
    const { run, journal } = await start();
    const body = { token: 'po_1', type: 'payout', orderNumber: 'P-1', amount: 5, currency: 'EUR' } as const;
    const common = { environment: 'sandbox', team: 'shop', url: 'https://shop.example/hook', at: 1 } as const;
    await journal.recordDue('po_1', [{ id: 'ntf_3', ...common, body: { ...body, status: 'declined' } }], {
      ...{ correlationId: 'c', causationId: 'c' },
    });
    expect((await run('notification list po_1')).out).toBe('ntf_3  payout declined  open\n');
    expect((await run('notification replay po_1')).out).toContain('ntf_3');
  });

  it('says where there are none', async () => {
    const { run } = await start();
    expect(await run('notification list pay_2')).toMatchObject({
      exitCode: 0,
      out: 'There are no notifications of pay_2.\n',
    });
  });
});

describe('notification replay', () => {
  it('asks for one, or for all', async () => {
    const { run, journal } = await start();
    const statesOf = async () =>
      (await journal.load('pay_1')).state.notifications.map(({ state, nextAt }) => [state, nextAt === 0]);
    expect((await run('notification replay pay_1 --id ntf_2')).out).toContain('ntf_2');
    expect(await statesOf()).toEqual([
      ['open', false],
      ['open', true],
    ]);
    expect(JSON.parse((await run('notification replay pay_1 --json')).out)).toEqual(['ntf_1', 'ntf_2']);
    expect(await statesOf()).toEqual([
      ['open', true],
      ['open', true],
    ]);
  });

  it.each([
    ['notification replay pay_2', 'There are no notifications of pay_2.\n'],
    ['notification replay pay_1 --id ntf_9', 'ntf_9 is no notification of pay_1.\n'],
  ])('%s is refused', async (command, error) => {
    const { run } = await start();
    expect(await run(command)).toEqual({ exitCode: 1, out: '', error });
  });
});

it.each([
  ['notification', 'command'],
  ['notification secret shop', '--environment'],
  ['notification secret shop --environment test', 'sandbox, production'],
  ['notification secret Shop --environment sandbox', "'Shop'"],
  ['notification list', "'token'"],
  ['notification replay ../x', "'../x'"],
])('%j is called wrongly', async (command, named) => {
  const { run } = await start();
  const { exitCode, error } = await run(command);
  expect([exitCode, error.includes(named)]).toEqual([2, true]);
});
