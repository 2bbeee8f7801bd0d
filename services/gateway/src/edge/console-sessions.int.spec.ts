/** Tokens and sessions of people: permissions to list and revoke them, and what extends a session. */
import { type OperatorRole, sessionIdleMsDefault } from '@tollgate/teams';
import { systemClock } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { cookieOf, startConsole } from './testing/console.ts';

async function start() {
  const console = await startConsole(async () => {});
  const { app } = console;
  const ask = (authorization: string, path: string, payload?: object) =>
    app.inject({
      url: `/api/v1/admin/${path}`,
      headers: { authorization },
      ...(payload === undefined ? {} : { method: 'POST' as const, payload }),
    });
  return { ...console, ask };
}

interface Listed {
  credentials: { id: string; person: string }[];
}
const idsIn = (answer: { json(): unknown }) => (answer.json() as Listed).credentials.map(({ id }) => id);

describe('permissions', () => {
  it.each<[OperatorRole, number]>([
    ['viewer', 403],
    ['support', 403],
    ['lead', 403],
    ['operator', 403],
    ['admin', 200],
  ])('a %s lists and revokes its own, and is answered %i for those of others', async (role, status) => {
    const { ask, bearerOf } = await start();
    const [own, other] = [bearerOf(role), bearerOf('viewer', 'bob')];
    const [id = ''] = idsIn(await ask(other, 'me'));
    expect((await ask(own, 'credentials')).statusCode).toBe(status);
    expect((await ask(own, 'credentials?person=bob')).statusCode).toBe(status);
    for (const payload of [{ credentialId: id }, { person: 'bob' }])
      expect((await ask(own, 'credentials/revoke', payload)).statusCode).toBe(status);
    expect((await ask(other, 'me')).statusCode).toBe(status === 200 ? 401 : 200);
    // Another person's id is not found.
    expect((await ask(own, 'me/revoke', { credentialId: id })).statusCode).toBe(404);
    expect((await ask(own, 'me')).json()).toMatchObject({ person: 'ada', credentials: [{ kind: 'token' }] });
    expect((await ask(own, 'me/revoke', {})).statusCode).toBe(200);
    const refused = await ask(own, 'me');
    expect(refused.statusCode).toBe(401);
    expect(refused.json()).toMatchObject({ errors: [{ code: 'person_token_revoked' }] });
  });

  it('an admin of one team lists no one else’s', async () => {
    const { ask, credentials } = await start();
    const grants = [{ role: 'admin' as const, teams: ['shop'], environments: '*' as const }];
    const token = credentials.issue({ person: 'ada', source: 'oidc', grants }, 'api', 60_000);
    expect((await ask(`Bearer ${token}`, 'me')).statusCode).toBe(200);
    expect((await ask(`Bearer ${token}`, 'credentials')).statusCode).toBe(403);
    expect((await ask(`Bearer ${token}`, 'credentials/revoke', { person: 'bob' })).statusCode).toBe(403);
  });

  it.each([{}, { credentialId: 'x' }, { person: '' }, { person: 'bob', credentialId: 'a'.repeat(24) }])(
    'to revoke %j is refused, and changes nothing',
    async (payload) => {
      const { ask, bearerOf } = await start();
      const [own, other] = [bearerOf('admin'), bearerOf('viewer', 'bob')];
      expect((await ask(own, 'credentials/revoke', payload)).statusCode).toBe(400);
      expect((await ask(other, 'me')).statusCode).toBe(200);
    },
  );

  it('a link opens nothing but the sign-in, and an API token does not sign in', async () => {
    const { ask, linkFor, bearerOf } = await start();
    const link = `Bearer ${linkFor('admin')}`;
    expect((await ask(link, 'teams')).statusCode).toBe(403);
    expect((await ask(link, 'me')).statusCode).toBe(403);
    expect((await ask(bearerOf('admin'), 'sign-ins', {})).statusCode).toBe(403);
    expect((await ask(link, 'sign-ins', {})).statusCode).toBe(200);
    expect((await ask(link, 'sign-ins', {})).statusCode).toBe(401);
  });

  // A person began a session under the id of a colleague's token: to revoke the id revoked the token and left the session.
  it('the id of a session is not chosen by its person', async () => {
    const { ask, linkFor, bearerOf } = await start();
    const [id = ''] = idsIn(await ask(bearerOf('viewer', 'bob'), 'me'));
    const link = `Bearer ${linkFor('viewer', 'aaron')}`;
    expect((await ask(link, 'sign-ins', { credentialId: id })).statusCode).toBe(200);
    const begun = idsIn(await ask(bearerOf('admin'), 'credentials?person=aaron'));
    expect(begun).toHaveLength(1);
    expect(begun).not.toContain(id);
  });
});

describe('a session', () => {
  it('is revoked by an admin, and its page leads to the sign-in', async () => {
    const { ask, bearerOf, signIn } = await start();
    const { get } = await signIn('operator', 'bob');
    expect((await get('/console')).statusCode).toBe(200);
    expect((await ask(bearerOf('admin'), 'credentials/revoke', { person: 'bob' })).statusCode).toBe(200);
    const refused = await get('/console');
    expect(refused.statusCode).toBe(401);
    expect(refused.body).toContain('was revoked');
  });

  it.each<[OperatorRole, boolean]>([
    ['viewer', false],
    ['admin', true],
  ])('of a %s shows its own on a page, and those of others: %j', async (role, isAll) => {
    const { signIn } = await start();
    const [own, other] = [await signIn(role), await signIn('viewer', 'bob')];
    const page = (await own.get('/console/people')).body;
    expect(page).toContain('this session');
    expect(page.includes('>bob<')).toBe(isAll);
    const ofBob = await own.sendAndRead('/console/people', { person: 'bob' });
    expect(ofBob.includes('Revoked.')).toBe(isAll);
    expect((await other.get('/console')).statusCode).toBe(isAll ? 401 : 200);
    const [credentialId] = /(?<=name="credentialId" value=")[0-9a-f]{24}/.exec(page) ?? [''];
    await own.send('/console/people', { credentialId });
    expect((await own.get('/console')).statusCode).toBe(401);
  });

  /** A page that refreshed itself each second kept an abandoned screen signed in for nine hours. */
  it("is extended by its person's actions, and not by pages that refresh themselves", async () => {
    const { app, signIn, credentials } = await start();
    const { cookie } = await signIn();
    const claims = credentials.read(cookie.split('=')[1] ?? '', 'session');
    if (claims === undefined) throw new Error('no session');
    const usedAt = systemClock.now() - sessionIdleMsDefault + 60_000;
    const aged = `tollgate-console=${credentials.seal({ ...claims, usedAt })}`;
    const refreshed = await app.inject({
      url: '/console',
      headers: { cookie: aged, 'tollgate-unattended': '1' },
    });
    expect([refreshed.statusCode, refreshed.headers['set-cookie']]).toEqual([200, undefined]);
    const acted = await app.inject({ url: '/console', headers: { cookie: aged } });
    const renewed = credentials.read(cookieOf(acted).split('=')[1] ?? '', 'session');
    expect(renewed).toMatchObject({ id: claims.id, expiresAt: claims.expiresAt });
    expect(renewed?.usedAt).toBeGreaterThan(usedAt);
    const idle = credentials.seal({ ...claims, usedAt: systemClock.now() - sessionIdleMsDefault });
    for (const url of ['/console', '/console/sandbox'])
      expect(
        (await app.inject({ url, headers: { cookie: `tollgate-console=${idle}` } })).statusCode,
        url,
      ).toBe(401);
  });
});
