import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { openBesideGateway } from './open-beside-gateway.ts';
import { type CliDependencies, runCommandLine } from './program.ts';

/** Makes a data directory with a store, and runs command lines whose arguments have no spaces on it. */
async function start() {
  const store = await temporaryStore();
  const parts = { store, clock: createFakeClock(), ids: systemIds, log: silentLog };
  const tools = { ...parts, directory: {} as never, webhookSecrets: () => [] };
  const run = (command: string) => runOn(command, async () => ({ tools, close: async () => undefined }));
  const json = async (command: string) => JSON.parse((await run(`${command} --json`)).out);
  await run('team add shop');
  return { run, json };
}

async function runOn(command: string, open: CliDependencies['open']) {
  const output = { out: '', error: '' };
  const exitCode = await runCommandLine(command.split(' '), {
    open,
    print: (text) => (output.out += text),
    complain: (text) => (output.error += text),
  });
  return { exitCode, ...output };
}

const done = { exitCode: 0, error: '' };

function expectOneSentence(error: string): void {
  expect(error).toMatch(/^[A-Z"<a-z][^\n]*[^.\n]\.\n$/);
  expect(error).not.toMatch(/\. \S/);
}

describe('teams', () => {
  it('are added, listed and shown', async () => {
    const { run, json } = await start();
    expect(await run('team add games')).toEqual({ ...done, out: expect.stringContaining('Added games.') });
    expect((await run('team list')).out).toMatch(/^games +active keys: 0\nshop +active keys: 0\n$/);
    expect(await json('team list')).toEqual([
      { name: 'games', activeKeys: 0 },
      { name: 'shop', activeKeys: 0 },
    ]);
    expect((await run('team show shop')).out).toBe(
      'shop\n  callbacks  nowhere\n  redirects  any https URL\n  no keys\n',
    );
    expect(await json('team show shop')).toEqual({
      name: 'shop',
      allowedOrigins: { callback: [], redirect: null },
      keys: [],
    });
  });

  it('have origins, of which a command replaces what it names', async () => {
    const { run, json } = await start();
    expect(
      await run(
        'team allow-origins shop --callback https://Shop.example:443 --redirect https://a.example http://localhost:*',
      ),
    ).toMatchObject(done);
    const redirect = ['https://a.example', 'http://localhost:*'];
    const shown = async () => (await json('team show shop')).allowedOrigins;
    expect(await shown()).toEqual({ callback: ['https://shop.example'], redirect });
    await run('team allow-origins shop --no-callback');
    expect(await shown()).toEqual({ callback: [], redirect });
    expect((await run('team allow-origins shop --no-redirect')).out).toContain('redirects  nowhere');
    expect(await shown()).toEqual({ callback: [], redirect: [] });
  });

  it('keep both lists where one of the new ones is refused', async () => {
    const { run, json } = await start();
    const refused = await run(
      'team allow-origins shop --callback https://a.example --redirect http://b.example',
    );
    expect(refused).toMatchObject({ exitCode: 2, out: '' });
    expect(refused.error).toContain('"http://b.example"');
    expectOneSentence(refused.error);
    expect((await json('team show shop')).allowedOrigins).toEqual({ callback: [], redirect: null });
  });
});

describe('keys', () => {
  const issue = 'key issue shop --environment sandbox --scopes';

  it('are printed once, on standard output, and are on record without their secret', async () => {
    const { run } = await start();
    const issued = await run(`${issue} payments,read`);
    expect(issued).toMatchObject(done);
    const keys = issued.out.match(/tg_sandbox_[0-9a-f]{12}_[0-9a-f]{48}/g) ?? [];
    expect(keys).toHaveLength(1);
    const [, , keyId = '', secret = ''] = keys[0]?.split('_') ?? [];
    for (const command of ['key list', 'key list shop', 'team show shop', 'key list --json']) {
      const { out } = await run(command);
      expect(out).toContain(keyId);
      expect(out).not.toContain(secret);
      expect(out).not.toMatch(/[0-9a-f]{64}/);
    }
  });

  it('are given to scripts with all their terms', async () => {
    const { json } = await start();
    const { key, keyId, ...terms } = await json(`${issue} payments,read,payments --requests-per-second 5`);
    expect(key).toMatch(new RegExp(`^tg_sandbox_${keyId}_[0-9a-f]{48}$`));
    const issued = {
      team: 'shop',
      environment: 'sandbox',
      scopes: ['payments', 'read'],
      requestsPerSecondMax: 5,
    };
    expect(terms).toEqual(issued);
    expect(await json('key list')).toEqual([{ ...issued, keyId, active: true }]);
  });

  it('are revoked by their id or as a whole, twice as well as once', async () => {
    const { run, json } = await start();
    const [one, other] = [await json(`${issue} read`), await json(`${issue} read`)];
    expect(await run(`key revoke shop ${one.keyId}`)).toMatchObject(done);
    expect(await run(`key revoke shop ${one.keyId}`)).toMatchObject(done);
    const whole = await run(`key revoke shop ${other.key}`);
    expect(whole).toMatchObject(done);
    expect(whole.out).not.toContain(other.key.split('_')[3]);
    expect((await json('key list shop')).map(({ active }: { active: boolean }) => active)).toEqual([
      false,
      false,
    ]);
  });
});

describe('what cannot be done as things stand ends with 1 and one sentence', () => {
  it.each([
    ['team add shop', 'shop'],
    ['team show nobody', 'nobody'],
    ['team allow-origins nobody --no-callback', 'nobody'],
    ['key issue nobody --environment sandbox --scopes read', 'nobody'],
    ['key revoke nobody k1', 'nobody'],
    ['key revoke shop k1', '<keyId>'],
    ['key list nobody', 'nobody'],
  ])('%s', async (command, named) => {
    const { run } = await start();
    const refused = await run(command);
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.error).toContain(named);
    expectOneSentence(refused.error);
  });

  it('a third active key of an environment', async () => {
    const { run } = await start();
    for (let count = 0; count < 2; count += 1)
      await run('key issue shop --environment sandbox --scopes read');
    const refused = await run('key issue shop --environment sandbox --scopes read');
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.error).toContain('key revoke shop');
    expectOneSentence(refused.error);
    expect((await run('key issue shop --environment production --scopes read')).exitCode).toBe(0);
  });

  it('the secret of a key that is not one is not repeated', async () => {
    const { run } = await start();
    const { error } = await run('key revoke shop tg_staging_k1_secretsecretsecret');
    expect(error).not.toContain('secretsecretsecret');
  });

  it.each(['missing', 'empty', 'file'])('a data directory that is none: %s', async (kind) => {
    const folder = join(dirname(await temporaryFile()), kind);
    if (kind === 'empty') mkdirSync(folder);
    if (kind === 'file') writeFileSync(folder, '');
    const parts = { clock: createFakeClock(), ids: systemIds, log: silentLog };
    const refused = await runOn('team add shop', () => openBesideGateway(folder, parts));
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.error).toContain(folder);
    expect(refused.error).toContain('TOLLGATE_DATA_DIR');
    expectOneSentence(refused.error);
    expect(existsSync(folder)).toBe(kind !== 'missing');
    if (kind === 'empty') expect(await readdir(folder)).toEqual([]);
  });
});
