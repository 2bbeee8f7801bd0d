/** Signing in with an account of the organization: only with a valid answer of the identity provider. */
import { Secret, systemClock } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { cookieOf, hostile, startConsole } from './testing/console.ts';
import { startIdentityProvider } from './testing/identity-provider.ts';
import { parseGrant } from '@tollgate/teams';

const path = '/console/sign-in/organization';

async function start(required: { acrValues?: string[]; maxAgeSeconds?: number } = {}) {
  const provider = await startIdentityProvider();
  const identityProvider = {
    issuer: provider.issuer,
    clientId: 'tollgate',
    clientSecret: new Secret('hush'),
    publicUrl: 'https://pay.example',
    scopes: 'openid',
    personClaim: 'sub',
    groupsClaim: 'groups',
    grantsOf: [
      { group: 'staff', grant: parseGrant('viewer') },
      { group: 'tollgate-operators', grant: parseGrant('operator') },
      { group: 'tollgate-admins', grant: parseGrant('admin') },
      { group: 'root', grant: parseGrant('admin') },
      { group: 'shop-leads', grant: parseGrant('lead:shop:sandbox') },
    ],
  };
  const strict = { acrValues: [], ...identityProvider, ...required };
  const console = await startConsole(async () => {}, { identityProvider: strict });
  const begin = async () => {
    const answer = await console.app.inject({ url: path });
    return { cookie: cookieOf(answer), address: String(answer.headers['location']), answer };
  };
  const comeBack = (query: string, cookie: string) =>
    console.app.inject({ url: `${path}/callback?${query}`, headers: { cookie } });
  const signIn = async () => {
    const { cookie, address } = await begin();
    return comeBack(provider.answer(address), cookie);
  };
  return { ...console, provider, begin, comeBack, signIn };
}

const linkIn = ({ body }: { body: string }): string => /name="link" value="([^"]+)"/.exec(body)?.[1] ?? '';

describe('a person the provider vouches for', () => {
  it('sees the account, confirms, and is in the security log under that name', async () => {
    const { signIn, post, app, recorded, begin } = await start();
    expect((await app.inject({ url: '/console' })).body).toContain(`href="${path}"`);
    const { answer, address } = await begin();
    expect(answer.statusCode).toBe(303);
    const asked = new URL(address).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: 'tollgate',
      code_challenge_method: 'S256',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `https://pay.example${path}/callback`,
    });
    expect(String(answer.headers['set-cookie'])).toContain(
      `Path=${path}; Max-Age=600; HttpOnly; SameSite=Lax`,
    );
    const confirmation = await signIn();
    expect(confirmation.body).toContain('Sign in as ada, with the role admin.');
    // A browser arriving from elsewhere has no session before the confirmation.
    expect(String(confirmation.headers['set-cookie'])).toMatch(/^tollgate-sign-in=; .*Max-Age=0/);
    const link = linkIn(confirmation);
    const begun = await post('/console/sign-in', { link }, { cookie: 'tollgate-console=planted' });
    expect(begun).toMatchObject({ statusCode: 303, headers: { location: '/console' } });
    expect(cookieOf(begun)).not.toContain('planted');
    expect(recorded).toMatchObject([{ person: { name: 'ada', source: 'oidc' }, detail: { role: 'admin' } }]);
    expect((await post('/console/sign-in', { link })).statusCode).toBe(401);
  });

  it.each([
    [['staff'], 'viewer'],
    [['staff', 'tollgate-operators', 'others'], 'operator'],
    ['root', 'admin'],
    [['shop-leads'], 'lead:shop:sandbox'],
    [['shop-leads', 'staff'], 'viewer lead:shop:sandbox'],
  ])('is in %j, and so has the role %s', async (groups, role) => {
    const { provider, signIn } = await start();
    provider.claims = { sub: 'bob', groups };
    expect((await signIn()).body).toContain(`Sign in as bob, with the role ${role}.`);
  });

  it.each([{ groups: [] }, { groups: ['Staff'] }, {}, { groups: { staff: true } }])(
    'without a role by %j is rejected',
    async (claims) => {
      const { provider, signIn } = await start();
      provider.claims = { sub: 'eve', ...claims };
      const answer = await signIn();
      expect([answer.statusCode, linkIn(answer)]).toEqual([403, '']);
    },
  );
});

describe('a second factor, and a recent sign-in', () => {
  const required = { acrValues: ['mfa', 'phr'], maxAgeSeconds: 300 };
  const now = () => Math.floor(systemClock.now() / 1_000);

  it('are requested, and accepted', async () => {
    const { provider, begin, signIn } = await start(required);
    const asked = new URL((await begin()).address).searchParams;
    expect([asked.get('acr_values'), asked.get('max_age')]).toEqual(['mfa phr', '300']);
    provider.claims = { sub: 'ada', groups: ['root'], acr: 'phr', auth_time: now() - 300 };
    expect((await signIn()).statusCode).toBe(200);
  });

  it('are not requested unless they are required', async () => {
    const { begin } = await start();
    const asked = new URL((await begin()).address).searchParams;
    expect([asked.get('acr_values'), asked.get('max_age')]).toEqual([null, null]);
  });

  it.each<[string, () => Record<string, unknown>, string]>([
    ['another factor', () => ({ acr: 'password', auth_time: now() }), 'OIDC_ACR_VALUES'],
    ['no factor', () => ({ auth_time: now() }), 'OIDC_ACR_VALUES'],
    ['a list of factors', () => ({ acr: ['mfa'], auth_time: now() }), 'OIDC_ACR_VALUES'],
    ['an old sign-in', () => ({ acr: 'mfa', auth_time: now() - 400 }), 'OIDC_MAX_AGE_SECONDS'],
    ['a sign-in of unknown age', () => ({ acr: 'mfa' }), 'OIDC_MAX_AGE_SECONDS'],
  ])('%s is refused, and the setting is named', async (_, claims, setting) => {
    const { provider, signIn } = await start(required);
    provider.claims = { sub: 'ada', groups: ['root'], ...claims() };
    const answer = await signIn();
    expect([answer.statusCode, linkIn(answer)]).toEqual([403, '']);
    expect(answer.body).toContain(setting);
  });
});

describe('refused is an answer', () => {
  it.each<[string, Record<string, unknown>]>([
    ['of another issuer', { iss: 'https://elsewhere.example' }],
    ['for another audience', { aud: 'somebody-else' }],
    ['to another question', { nonce: 'another' }],
    ['from long ago', { exp: 1_000, iat: 900 }],
    ['about nobody', { sub: '' }],
    ['with a hostile name', { sub: `${hostile}\n` }],
    ['with a name that is no text', { sub: 7 }],
  ])('%s', async (_, claims) => {
    const { provider, signIn } = await start();
    provider.claims = { sub: 'ada', groups: ['root'], ...claims };
    const answer = await signIn();
    expect([answer.statusCode, linkIn(answer)]).toEqual([401, '']);
    expect(answer.body).not.toContain('<script>alert');
  });

  it('that another key has signed', async () => {
    const { provider, signIn } = await start();
    provider.isForging = true;
    expect((await signIn()).statusCode).toBe(401);
  });

  it('that is repeated, even with the cookie of the first', async () => {
    const { provider, begin, comeBack } = await start();
    const { cookie, address } = await begin();
    const query = provider.answer(address);
    expect((await comeBack(query, cookie)).statusCode).toBe(200);
    expect((await comeBack(query, cookie)).statusCode).toBe(401);
    expect((await comeBack(provider.answer(address), cookie)).statusCode).toBe(401);
    expect(provider.exchanges).toBe(1);
  });

  it('in a browser that has not requested it, or has requested another', async () => {
    const { provider, begin, comeBack } = await start();
    const theirs = await begin();
    const ours = await begin();
    const query = provider.answer(theirs.address);
    const [name, value = ''] = ours.cookie.split('=', 2);
    for (const cookie of [
      '',
      `${name}=x`,
      `${name}=${value.replace(/.$/, '')}`,
      // As long in characters, and not in bytes: it was answered 500.
      `${name}=${value.replace(/.$/, 'é')}`,
      `${ours.cookie}; ${theirs.cookie}`,
    ])
      expect((await comeBack(query, cookie)).statusCode, cookie).toBe(401);
    expect(provider.exchanges).toBe(0);
    // An attacker's answer in our browser: no person is signed in as another one unnoticed.
    expect((await comeBack(query, ours.cookie)).statusCode).toBe(401);
    expect(provider.exchanges).toBe(0);
  });

  it('that is a refusal, and one of another provider', async () => {
    const { provider, begin, comeBack } = await start();
    for (const change of [
      (query: URLSearchParams) => query.set('iss', 'https://elsewhere.example'),
      (query: URLSearchParams) => query.delete('iss'),
      (query: URLSearchParams) => query.delete('code'),
      (query: URLSearchParams) => query.set('error', 'access_denied'),
    ]) {
      const { cookie, address } = await begin();
      const query = new URLSearchParams(provider.answer(address));
      change(query);
      expect((await comeBack(query.toString(), cookie)).statusCode).toBe(401);
    }
    expect(provider.exchanges).toBe(0);
  });
});

it('an unavailable provider does not block others, and is tried again', async () => {
  const { provider, app } = await start();
  const { issuer } = provider;
  provider.issuer = 'http://127.0.0.1:1';
  expect((await app.inject({ url: path })).statusCode).toBe(503);
  provider.issuer = issuer;
  expect((await app.inject({ url: path })).statusCode).toBe(303);
});
