/** Teams and keys: permissions to see and change them, and where changes are possible. */
import { appendTeamEvents, givenTeam, keyIssued, originsAllowed } from '@tollgate/teams/testing';
import type { EventStore } from '@tollgate/event-store';
import { systemClock, dayMs } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { hostile, startConsole } from './testing/console.ts';

const shop = { team: 'shop', keyId: 'k1', expiresAt: systemClock.now() + dayMs, networks: ['10.0.0.0/8'] };

async function seed(store: EventStore): Promise<void> {
  await givenTeam(store, shop);
  await givenTeam(store, { team: 'games', keyId: 'k2', requestsPerSecondMax: 7 });
  await appendTeamEvents(store, 'shop', [
    originsAllowed('callback', 'https://shop.example'),
    { type: 'KeyRevoked', data: { keyId: 'k1' } },
    { type: 'WalletChosen', data: { wallet: { kind: 'shared', name: 'both' } } },
    { type: 'ApprovalRequired', data: { environment: 'production', currency: 'EUR', above: 100_000 } },
    {
      type: 'MoneyLimited',
      data: { environment: 'sandbox', operation: 'refund', currency: 'EUR', perCall: 5_000, perDay: null },
    },
  ]);
}

async function start(isSigning = true) {
  const console = await startConsole(seed, { isSigning });
  const api = (path: string, body?: object) => console.askAs('admin', path, body);
  return { ...console, api };
}

const newKey = { team: 'games', environment: 'sandbox', scopes: ['read'] };

describe('keys of all teams', () => {
  it('are listed with their state, by team, page by page', async () => {
    const { api } = await start();
    const list = async (query: string) => (await api(`keys?${query}`)).json<{ nextCursor?: string }>();
    expect(await list('state=active')).toMatchObject({
      keys: [{ team: 'games', keyId: 'k2', state: 'active', requestsPerSecondMax: 7 }],
      isChangeable: true,
    });
    expect(await list('state=ended')).toMatchObject({
      keys: [{ team: 'shop', keyId: 'k1', state: 'revoked', networks: ['10.0.0.0/8'] }],
    });
    const { nextCursor = '', ...first } = await list('perPage=1');
    expect(first).toMatchObject({ keys: [{ keyId: 'k2' }] });
    const second = await list(`perPage=1&cursor=${nextCursor}`);
    expect(second).toMatchObject({ keys: [{ keyId: 'k1' }] });
    expect(second).not.toHaveProperty('nextCursor');
    expect((await api('keys?cursor=x')).statusCode).toBe(400);
    expect((await api('keys?state=x')).statusCode).toBe(400);
    expect(JSON.stringify(second)).not.toContain('secretHash');
  });

  it.each([
    ['keys', newKey],
    ['keys/k2/revoke', { team: 'games' }],
    ['teams', { team: 'new' }],
  ])('%s is not changed if the signing key is elsewhere', async (path, body) => {
    const { api } = await start(false);
    const refused = await api(path, body);
    expect(refused.statusCode).toBe(409);
    expect(refused.json()).toMatchObject({ errors: [{ code: 'signing_key_missing' }] });
  });

  const refusals: [what: string, path: string, body: object, error: object][] = [
    ['another key', 'keys', { ...newKey, team: 'none' }, { code: 'team_not_found' }],
    ['a revocation', 'keys/k9/revoke', { team: 'games' }, { code: 'key_not_found' }],
    ['a team again', 'teams', { team: 'games' }, { code: 'team_exists' }],
    ['a name', 'teams', { team: 'Games!' }, { code: 'invalid_param', parameter: 'team' }],
    ['no scope', 'keys', { ...newKey, scopes: [] }, { parameter: 'scopes' }],
    ['a scope twice', 'keys', { ...newKey, scopes: ['read', 'read'] }, { parameter: 'scopes' }],
    ['a scope of persons', 'keys', { ...newKey, scopes: ['operators:manage'] }, { parameter: 'scopes.0' }],
    [
      'an end in the past',
      'keys',
      { ...newKey, expiresAt: '2020-01-01T00:00:00Z' },
      { parameter: 'expiresAt' },
    ],
    ['a network', 'keys', { ...newKey, networks: ['everywhere'] }, { parameter: 'networks' }],
    ['an id', 'keys', { ...newKey, keyId: '../x' }, { parameter: 'keyId' }],
  ];

  it('are refused with the invalid field', async () => {
    const { api } = await start();
    for (const [what, path, body, error] of refusals)
      expect((await api(path, body)).json(), what).toMatchObject({ success: false, errors: [error] });
  });

  it('are issued once under one id, two of an environment, open the API, and do not after they are revoked', async () => {
    const { api, app, recorded } = await start();
    const keyId = '0123456789ab';
    const issued = await api('keys', { ...newKey, keyId, requestsPerSecondMax: 3 });
    expect(issued.headers['cache-control']).toBe('no-store');
    const { key } = issued.json<{ key: string }>();
    const open = () => app.inject({ url: '/api/v1/payments', headers: { authorization: `Bearer ${key}` } });
    expect((await open()).statusCode).toBe(200);
    expect((await api('keys', { ...newKey, keyId })).json()).toMatchObject({
      errors: [{ code: 'key_exists' }],
    });
    expect((await api('keys', newKey)).statusCode).toBe(200);
    expect((await api('keys', newKey)).json()).toMatchObject({ errors: [{ code: 'too_many_active_keys' }] });
    expect((await api(`keys/${keyId}/revoke`, { team: 'games' })).statusCode).toBe(200);
    expect((await open()).statusCode).toBe(401);
    const { command, detail } = recorded.at(-1) ?? {};
    expect(command).toBe('POST /api/v1/admin/keys/:keyId/revoke');
    expect(detail).toMatchObject({ team: 'games', keyId, role: 'admin' });
    expect(JSON.stringify(recorded)).not.toContain(key);
  });
});

describe('the pages', () => {
  /** Of a team with 101 keys in its life, the page showed the oldest 100: the only active one could be revoked nowhere. */
  it('show an active key before all expired and revoked ones', async () => {
    const { signIn } = await startConsole(
      async (store) => {
        await givenTeam(store, { team: 'shop', keyId: 'k0' });
        for (let n = 0; n < 101; n += 1)
          await appendTeamEvents(store, 'shop', [
            { type: 'KeyRevoked', data: { keyId: `k${n}` } },
            keyIssued({ team: 'shop', keyId: `k${n + 1}` }),
          ]);
      },
      { isSigning: true },
    );
    const { body } = await (await signIn('admin')).get('/console/teams/shop');
    expect(body).toMatch(/<code>k101<\/code>[^]*<code>k0<\/code>/);
    expect(body).toContain('<option value="k101"');
    expect(body).toContain('Only the oldest 100 ended keys are shown');
  });

  it('show a team to every person, and the commands if changes are made elsewhere', async () => {
    const { signIn } = await start(false);
    const { get } = await signIn('viewer');
    const { body } = await get('/console/teams/shop');
    for (const text of [
      'https://shop.example',
      'the shared wallet both',
      '1,000.00 EUR',
      '50.00 EUR a call',
      'Revoked',
    ])
      expect(body).toContain(text);
    expect(body).not.toContain('<form method="post" action="/console/teams');
    expect((await get('/console/teams/none')).statusCode).toBe(404);
    const list = (await get('/console/teams')).body;
    expect(list).toMatch(/Teams without an active key:[^]*shop/);
    const admin = await signIn('admin');
    expect((await admin.get('/console/teams/shop')).body).toContain('key issue shop --environment');
    expect((await admin.get('/console/teams')).body).toContain('team add');
    expect(await admin.sendAndRead('/console/teams', { team: 'new' })).toContain('has no signing key');
  });

  it('add a team, issue its key, show it once and in no URL, and revoke it', async () => {
    const { signIn, app } = await start();
    const { send, get, sendAndRead } = await signIn('admin');
    expect(await sendAndRead('/console/teams', { team: hostile })).not.toContain(hostile);
    const added = await send('/console/teams', { team: 'kiosk' });
    expect(added.headers['location']).toMatch(/^\/console\/teams\/kiosk\?done=/);
    const form = (await get('/console/teams/kiosk')).body;
    const keyId = /name="keyId" value="([0-9a-f]{12})"/.exec(form)?.[1] ?? '';
    const wanted = { environment: 'sandbox', scopes: 'read', keyId, networks: '127.0.0.0/8', ends: '' };
    const issued = await send('/console/teams/kiosk/keys', wanted);
    expect([issued.statusCode, issued.headers['cache-control']]).toEqual([200, 'no-store']);
    const key = /data-copy="(tg_sandbox_[^"]+)"/.exec(issued.body)?.[1] ?? '';
    expect(issued.body).toContain('It is not shown again');
    const headers = { authorization: `Bearer ${key}` };
    expect((await app.inject({ url: '/api/v1/payments', headers })).statusCode).toBe(200);
    expect(await sendAndRead('/console/teams/kiosk/keys', wanted)).toContain('This form was already sent');
    const hostileTerms = { ...wanted, keyId: 'ffffffffffff', networks: hostile };
    expect(await sendAndRead('/console/teams/kiosk/keys', hostileTerms)).toContain(
      'must be networks such as',
    );
    expect(await sendAndRead('/console/teams/kiosk/keys/revoke', { keyId })).toContain('is revoked');
  });
});
