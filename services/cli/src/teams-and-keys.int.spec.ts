import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { openDataDirectory, openTeamKeys } from '@tollgate/gateway/configuration';
import { openBesideGateway } from './open-beside-gateway.ts';
import { runOpening, runWith, toolsWith } from './testing/run-with.ts';

/** Creates a data directory with a store, and runs command lines whose arguments have no spaces. */
async function start() {
  const store = await temporaryStore();
  const parts = { store, clock: createFakeClock(), ids: systemIds, log: silentLog };
  const directory = openDataDirectory(dirname(await temporaryFile()));
  const teamKeys = openTeamKeys({}, directory, { mayInstall: true });
  const tools = toolsWith({ ...parts, teamKeys, directory });
  const run = (command: string) => runWith(tools, command);
  const json = async (command: string) => JSON.parse((await run(`${command} --json`)).out);
  await run('team add shop');
  return { run, json, store };
}

const done = { exitCode: 0, error: '' };

function expectOneSentence(error: string): void {
  expect(error).toMatch(/^[A-Z"<a-z][^\n]*[^.\n]\.\n$/);
  expect(error).not.toMatch(/\n./);
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
      "shop\n  callbacks  nowhere\n  redirects  any https URL\n  payouts    from the team's own wallet\n  no keys\n",
    );
    expect(await json('team show shop')).toEqual({
      name: 'shop',
      allowedOrigins: { callback: [], redirect: null },
      wallet: { kind: 'own' },
      approvals: [],
      limits: [],
      keys: [],
    });
  });

  it('have origins, and a command replaces the ones it names', async () => {
    const { run, json } = await start();
    expect(
      await run(
        'team allow-origins shop --callback https://Shop.example:443 --redirect https://a.example http://localhost:*',
      ),
    ).toMatchObject(done);
    const redirect = ['https://a.example', 'http://localhost:*'];
    const shown = async () => (await json('team show shop')).allowedOrigins;
    expect(await shown()).toEqual({ callback: ['https://shop.example'], redirect });
    await run('team allow-origins shop --without-callback');
    expect(await shown()).toEqual({ callback: [], redirect });
    expect((await run('team allow-origins shop --without-redirect')).out).toContain('redirects  nowhere');
    expect(await shown()).toEqual({ callback: [], redirect: [] });
  });

  it('pay out from their own wallet until another one is chosen', async () => {
    const { run, json } = await start();
    expect((await run('team wallet shop --shared group')).out).toContain(
      'payouts    from the shared wallet group',
    );
    expect((await json('team show shop')).wallet).toEqual({ kind: 'shared', name: 'group' });
    expect((await run('team wallet shop --provider-balance')).out).toContain("from the provider's balance");
    expect((await run('team wallet shop --own')).out).toContain("from the team's own wallet");
    expect(await run('team wallet nobody --own')).toMatchObject({ exitCode: 1 });
  });

  it('make payouts above an amount wait for approval, by environment and currency', async () => {
    const { run, json } = await start();
    const shown = await run('team approval shop --environment production --currency EUR --above 100000');
    expect(shown.out).toContain('approval   required for production payouts above 1000.00 EUR');
    await run('team approval shop --environment sandbox --currency EUR --above 0');
    await run('team approval shop --environment production --currency EUR --above 5');
    const production = { environment: 'production', currency: 'EUR', above: 5 };
    const sandbox = { environment: 'sandbox', currency: 'EUR', above: 0 };
    expect((await json('team show shop')).approvals).toEqual([production, sandbox]);
    await run('team approval shop --environment production --currency EUR --none');
    expect((await json('team show shop')).approvals).toEqual([sandbox]);
  });

  it('are limited per call and day, as are single keys, until the limit is lifted', async () => {
    const { run, json } = await start();
    const about = '--environment sandbox --operation payout --currency EUR';
    expect((await run(`team limit shop ${about} --per-call 5 --per-day 9`)).out).toContain(
      'limit      sandbox payouts: 0.05 EUR a call, 0.09 EUR a day',
    );
    expect(await run(`team limit shop ${about} --key none --per-call 5`)).toMatchObject({ exitCode: 1 });
    const { keyId } = await json('key issue shop --environment sandbox --scopes payouts');
    await run(`team limit shop ${about} --key ${keyId} --per-day 3`);
    const of = { environment: 'sandbox', operation: 'payout', currency: 'EUR' };
    expect((await json('team show shop')).limits).toEqual([
      { ...of, perCall: 5, perDay: 9 },
      { ...of, keyId, perCall: null, perDay: 3 },
    ]);
    await run(`team limit shop ${about} --none`);
    expect((await json('team show shop')).limits).toHaveLength(1);
  });
});

describe('keys', () => {
  const issue = 'key issue shop --environment sandbox --scopes';

  it('are printed once, on standard output, and are recorded without their secret', async () => {
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

  it('are printed for scripts with all their terms', async () => {
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
    const shown = { ...issued, keyId, expiresAt: null, networks: null, active: true, lastUsedAt: null };
    expect(await json('key list')).toEqual([shown]);
  });

  it('are revoked by id or full text, and revoking twice is harmless', async () => {
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

describe('a key', () => {
  const issue = 'key issue shop --environment sandbox --scopes read';

  it('expires at its time and works only from its networks, as the list shows', async () => {
    const { run, json } = await start();
    expect(await run(`${issue} --expires 90d --networks 10.20.0.0/16,2001:DB8::/32`)).toMatchObject(done);
    const [key] = await json('key list shop');
    expect(key).toMatchObject({
      expiresAt: '2030-04-01T00:00:00.000Z',
      networks: ['10.20.0.0/16', '2001:db8::/32'],
      active: true,
    });
    const { out } = await run('key list shop');
    expect(out).toMatch(
      /active {2}read, from 10\.20\.0\.0\/16 2001:db8::\/32, until 2030-04-01T00:00:00\.000Z, used never$/m,
    );
    expect((await run(issue)).out).toContain('expires      never\n  networks     all');
  });

  it('expires at the end of a day', async () => {
    const { json } = await start();
    expect(await json(`${issue} --expires 2030-01-31`)).toMatchObject({
      expiresAt: '2030-02-01T00:00:00.000Z',
    });
  });

  it.each([
    ['--expires 2029-12-30', '--expires'],
    ['--networks office', '"office"'],
    [`--networks ${Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`).join(',')}`, '20'],
  ])('with %s is not issued', async (option, named) => {
    const { run } = await start();
    const refused = await run(`${issue} ${option}`);
    expect(refused).toMatchObject({ exitCode: 2, out: '' });
    expect(refused.error).toContain(named);
    expectOneSentence(refused.error);
  });
});

describe('the person making a change', () => {
  it('is recorded, from --as or the environment', async () => {
    const { run, store } = await start();
    await run('team allow-origins shop --without-callback --as anna@shop.example');
    await run('--as ben team allow-origins shop --without-redirect');
    const actors = await Array.fromAsync(store.read('team-shop'), ({ metadata }) => Object(metadata).actor);
    const person = (name: string) => ({ kind: 'person', name, source: 'command-line' });
    expect(actors).toEqual(['os:unknown', 'anna@shop.example', 'ben'].map(person));
  });
});

it('init-signing creates keys once, and shows the public one', async () => {
  const { json } = await start();
  const first = await json('init-signing');
  expect(first.publicKeys).toContain('-----BEGIN PUBLIC KEY-----');
  expect(await json('init-signing')).toEqual(first);
  expect(first.kids).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
});

describe('a change that is impossible in the current state exits with 1 and one sentence', () => {
  it.each([
    ['team add shop', 'shop'],
    ['team show nobody', 'nobody'],
    ['team allow-origins nobody --without-callback', 'nobody'],
    ['key issue nobody --environment sandbox --scopes read', 'nobody'],
    ['key revoke nobody k1', 'nobody'],
    ['key revoke shop k1', 'has no key with this id'],
    ['key list nobody', 'nobody'],
  ])('%s', async (command, named) => {
    const { run } = await start();
    const refused = await run(command);
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.error).toContain(named);
    expectOneSentence(refused.error);
  });

  it('does not echo the secret of an invalid key', async () => {
    const { run } = await start();
    const { error } = await run('key revoke shop tg_staging_k1_secretsecretsecret');
    expect(error).not.toContain('secretsecretsecret');
  });

  it.each(['missing', 'empty', 'file'])('a data directory that is none: %s', async (kind) => {
    const folder = join(dirname(await temporaryFile()), kind);
    if (kind === 'empty') mkdirSync(folder);
    if (kind === 'file') writeFileSync(folder, '');
    const parts = { clock: createFakeClock(), ids: systemIds, log: silentLog };
    const refused = await runOpening(() => openBesideGateway(folder, parts), 'team add shop');
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.error).toContain(folder);
    expect(refused.error).toContain('TOLLGATE_DATA_DIR');
    expectOneSentence(refused.error);
    expect(existsSync(folder)).toBe(kind !== 'missing');
    if (kind === 'empty') expect(await readdir(folder)).toEqual([]);
  });
});
