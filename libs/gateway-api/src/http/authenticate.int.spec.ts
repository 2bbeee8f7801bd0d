import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock } from '@tollgate/service-kit';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { authenticate } from './authenticate.ts';
import { createTeamDirectory } from '@tollgate/teams';
import { givenTeam, testVerifier } from '@tollgate/teams/testing';

async function start() {
  const store = await temporaryStore();
  const reader = await givenTeam(store, { team: 'shop', keyId: 'k1', scopes: ['read'] });
  const directory = createTeamDirectory({
    store,
    clock: systemClock,
    verifier: testVerifier,
    log: silentLog,
  });
  await directory.start();
  const app = fastify();
  onTestFinished(async () => {
    await app.close();
    await directory.stop();
  });
  app.get('/one', async (request, reply) => {
    const caller = await authenticate(directory, request, reply, { scopes: ['refunds'] });
    return caller === undefined ? reply : reply.send(caller.team);
  });
  app.get('/either', async (request, reply) => {
    const caller = await authenticate(directory, request, reply, { scopes: ['payments', 'read'] });
    return caller === undefined ? reply : reply.send(caller.team);
  });
  app.get('/operators', async (request, reply) => {
    const route = { scopes: ['operators:read', 'operators:teams'] } as const;
    const caller = await authenticate(directory, request, reply, route);
    return caller === undefined ? reply : reply.send(caller.team);
  });
  return { app, store, authorization: `Bearer ${reader}` };
}

test('a key with one of the scopes identifies its caller', async () => {
  const { app, authorization } = await start();
  const answer = await app.inject({ url: '/either', headers: { authorization } });
  expect([answer.statusCode, answer.body]).toEqual([200, 'shop']);
});

// A key that had just been issued was refused until the subscription delivered its event.
test('a key works as soon as it was issued', async () => {
  const { app, store } = await start();
  for (const keyId of ['k2', 'k3', 'k4']) {
    const key = await givenTeam(store, { team: `shop-${keyId}`, keyId, scopes: ['read'] });
    const answer = await app.inject({ url: '/either', headers: { authorization: `Bearer ${key}` } });
    expect(answer.statusCode).toBe(200);
  }
});

test('the refusal of a key without the scope names the scope', async () => {
  const { app, authorization } = await start();
  const answer = await app.inject({ url: '/one', headers: { authorization } });
  expect(answer.statusCode).toBe(403);
  expect(answer.json()).toEqual({
    success: false,
    errors: [
      {
        code: 'scope_missing',
        kind: 'authentication_error',
        message: 'The API key lacks the scope refunds. Use a key that has it.',
      },
    ],
  });
});

test('a key is refused on a route of operators, without a scope that no key can have', async () => {
  const { app, authorization } = await start();
  const answer = await app.inject({ url: '/operators', headers: { authorization } });
  expect(answer.statusCode).toBe(403);
  expect(answer.json().errors[0].message).toBe(
    'Only operators may call this route. Sign in as a person with a role.',
  );
});

test.each([
  [undefined, 'auth_header_not_found'],
  ['Bearer tg_sandbox_k9_0123456789abcdef', 'incorrect_private_key'],
])('the header %s is answered with %s', async (authorization, code) => {
  const { app } = await start();
  const answer = await app.inject({
    url: '/one',
    headers: authorization === undefined ? {} : { authorization },
  });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers['www-authenticate']).toBe('Bearer');
  expect(answer.json()).toMatchObject({ success: false, errors: [{ code, kind: 'authentication_error' }] });
});

// The answer to a key without its scheme said that the key was unknown: callers looked for the fault there.
test.each(['tg_sandbox_k9_0123456789abcdef', 'Basic c2hvcDpzZWNyZXQ=', 'Bearer '])(
  'a header without a bearer credential (%s) is refused with that reason',
  async (authorization) => {
    const { app } = await start();
    const answer = await app.inject({ url: '/one', headers: { authorization } });
    expect(answer.statusCode).toBe(401);
    expect(answer.json<{ errors: object[] }>().errors).toMatchObject([
      {
        code: 'incorrect_private_key',
        message: 'The Authorization header does not begin with Bearer. Send Authorization: Bearer <API key>.',
      },
    ]);
  },
);
