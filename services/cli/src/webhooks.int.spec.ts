import { temporaryStore } from '@tollgate/event-store/testing';
import { webhookSecretsOf, parseWebhookSecrets } from '@tollgate/service-kit';
import { testTeamKeys } from '@tollgate/teams/testing';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

const [old, recent] = [`a:${'x'.repeat(32)}`, `b:${'y'.repeat(32)}`];

async function start(masters = old) {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const webhookSecrets = () => parseWebhookSecrets(masters);
  const tools = toolsWith({ store, clock, teamKeys: testTeamKeys, webhookSecrets });
  const run = (command: string) => runWith(tools, command);
  return { run, clock };
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

  it('without an overlap ends the former secret at once', async () => {
    const { run } = await start();
    await run('team add shop');
    const { out: first } = await run(secret);
    const rotated = await run(`${rotate} --overlap 0d`);
    expect(rotated).toMatchObject({ exitCode: 0, out: expect.stringContaining('the new secret only') });
    const { out } = await run(secret);
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(out).not.toBe(first);
  });

  it('of a team that does not exist is refused', async () => {
    const { run } = await start();
    const refused = await run('webhook rotate nobody --environment sandbox');
    expect(refused).toMatchObject({ exitCode: 1, out: '', error: expect.stringContaining('nobody') });
  });
});
