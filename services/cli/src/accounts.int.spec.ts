import { temporaryStore } from '@tollgate/event-store/testing';
import { systemClock } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';
import { readAccountChanges } from '@tollgate/merchant-accounts';

async function start(isKnown = true) {
  const store = await temporaryStore();
  const tools = toolsWith({
    store,
    clock: systemClock,
    accountNames: () =>
      isKnown
        ? [
            { environment: 'sandbox', name: 'main' },
            { environment: 'sandbox', name: 'other' },
          ]
        : undefined,
  });
  const run = (command: string) => runWith(tools, command);
  const events = async () =>
    (await Array.fromAsync(store.read('merchant-accounts'))).map(({ type, metadata }) => ({
      type,
      metadata,
    }));
  return { store, run, events };
}

const named = '--account main --environment sandbox --reason maintenance';

describe('account', () => {
  it('pauses, drains and resumes, and records the person', async () => {
    const { run, events } = await start();
    expect(await run(`account pause ${named}`)).toMatchObject({
      exitCode: 0,
      out: 'sandbox/main is paused.\n',
    });
    await run(`--as ada account drain ${named}`);
    expect((await run('account list')).out).toMatch(
      /^sandbox\/main draining since 20.+ by ada: maintenance\nsandbox\/other active\n$/,
    );
    await run(`account resume ${named}`);
    const actor = { kind: 'person', source: 'command-line' };
    expect(await events()).toMatchObject([
      { type: 'AccountPaused', metadata: { actor, schemaVersion: 1 } },
      { type: 'AccountDrained', metadata: { actor: { name: 'ada' } } },
      { type: 'AccountResumed' },
    ]);
  });

  it('lists accounts without changes, or reports all as active if it has no list of them', async () => {
    expect((await (await start()).run('account list')).out).toBe(
      'sandbox/main active\nsandbox/other active\n',
    );
    expect((await (await start(false)).run('account list')).out).toContain('All accounts are active.');
  });

  it.each([
    [
      'an account that there is not',
      'pause --account mian --environment sandbox --reason x',
      'no account mian',
    ],
    [
      'a card number',
      'pause --account main --environment sandbox --reason 4392963203551251',
      '--reason must not',
    ],
  ])('refuses %s, and nothing is on record', async (_, command, said) => {
    const { run, store } = await start();
    const { exitCode, error } = await run(`account ${command}`);
    expect([exitCode === 0, error]).toEqual([false, expect.stringContaining(said)]);
    expect((await readAccountChanges(store)).changes.size).toBe(0);
  });

  it('changes an account with an unknown name, with a warning', async () => {
    const { run } = await start(false);
    expect((await run(`account pause ${named}`)).out).toContain(
      'is paused. This command cannot verify that the account exists',
    );
  });

  it('makes the gateway reload the accounts file', async () => {
    const { run, events } = await start();
    expect((await run('account reload')).out).toContain('reloads its accounts file');
    expect(await events()).toMatchObject([{ type: 'AccountsReloadRequested' }]);
  });
});
