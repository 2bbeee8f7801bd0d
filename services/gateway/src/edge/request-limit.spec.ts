import type { Authentication } from '@tollgate/teams';
import { createFakeClock } from '@tollgate/testing';
import Fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { limitRequests } from './request-limit.ts';

/** A key is written `<team> <keyId>`, followed by its own limit if it has one. */
function authenticate(authorization: string | undefined): Authentication {
  if (authorization === undefined) return { kind: 'refused', code: 'auth_header_not_found' };
  const [team = '', keyId, limit] = authorization.split(' ');
  if (keyId === undefined) return { kind: 'refused', code: 'incorrect_private_key' };
  const allowedOrigins = { callback: [], redirect: undefined };
  const wallet = { kind: 'own' as const };
  const environment = 'sandbox' as const;
  const caller = { team, keyId, environment, scopes: new Set<never>(), allowedOrigins, wallet };
  if (limit === undefined) return { kind: 'caller', caller };
  return { kind: 'caller', caller: { ...caller, requestsPerSecondMax: Number(limit) } };
}

const requestersMax = 10;

async function start(requestsPerSecondMax: number) {
  const clock = createFakeClock();
  const app = Fastify();
  onTestFinished(() => app.close());
  let handled = 0;
  await app.register(async (api) => {
    await limitRequests(api, {
      directory: { authenticate },
      clock,
      requestsPerSecondMax,
      requestersMax,
      sessionOf: ({ headers }) => headers.cookie,
    });
    api.get('/one', async () => (handled += 1));
    api.post('/two', async () => (handled += 1));
  });
  const call = (authorization?: string, remoteAddress = '192.0.2.1', method: 'GET' | 'POST' = 'GET') =>
    app.inject({
      method,
      url: method === 'GET' ? '/one' : '/two',
      remoteAddress,
      headers: authorization === undefined ? {} : { authorization },
    });
  const codes = async (count: number, authorization?: string, remoteAddress?: string) => {
    const answers = [];
    for (let index = 0; index < count; index += 1)
      answers.push((await call(authorization, remoteAddress)).statusCode);
    return answers;
  };
  return { app, call, codes, clock, handled: () => handled };
}

describe('a key', () => {
  test('over its limit gets Retry-After', async () => {
    const { codes, call, clock, handled } = await start(3);
    expect(await codes(3, 'shop k1')).toEqual([200, 200, 200]);
    const answer = await call('shop k1');
    expect(answer.statusCode).toBe(429);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.json()).toEqual({
      success: false,
      errors: [
        {
          code: 'rate_limit_exceeded',
          kind: 'api_error',
          message:
            'More than 3 requests of this API key arrived within a second. This one was not executed. Retry later.',
        },
      ],
    });
    expect(handled()).toBe(3);
    await clock.advance(1_000);
    expect(await codes(4, 'shop k1')).toEqual([200, 200, 200, 429]);
  });

  test('is counted over all routes', async () => {
    const { codes, call } = await start(2);
    await codes(1, 'shop k1');
    expect((await call('shop k1', undefined, 'POST')).statusCode).toBe(200);
    expect((await call('shop k1', undefined, 'POST')).statusCode).toBe(429);
  });

  test('does not affect another one, of its team or with its id in another team', async () => {
    const { codes } = await start(2);
    expect(await codes(3, 'shop k1')).toEqual([200, 200, 429]);
    expect(await codes(2, 'shop k2')).toEqual([200, 200]);
    expect(await codes(2, 'games k1')).toEqual([200, 200]);
  });

  test.each([1, 5])('with a limit of its own, %d, has that instead', async (limit) => {
    const { codes } = await start(3);
    const answers = await codes(limit + 1, `shop k1 ${limit}`);
    expect(answers.lastIndexOf(200)).toBe(limit - 1);
    expect(answers.at(-1)).toBe(429);
  });
});

describe('without an active key', () => {
  test('an address gets a tenth, with any key', async () => {
    const { call, codes } = await start(30);
    expect(await codes(1)).toEqual([200]);
    expect(await codes(1, 'guess-1')).toEqual([200]);
    expect(await codes(1, 'guess-2')).toEqual([200]);
    const answer = await call('guess-3');
    expect(answer.statusCode).toBe(429);
    expect(answer.json()).toMatchObject({ errors: [{ code: 'rate_limit_exceeded', kind: 'api_error' }] });
    expect(await codes(1, 'guess-4', '192.0.2.2')).toEqual([200]);
  });

  test('an address gets at least one request', async () => {
    const { codes } = await start(1);
    expect(await codes(2)).toEqual([200, 429]);
  });

  test('the addresses of one IPv6 subnet are one', async () => {
    const { codes } = await start(10);
    expect(await codes(1, undefined, '2001:db8::1')).toEqual([200]);
    expect(await codes(1, undefined, '2001:db8::2')).toEqual([429]);
    expect(await codes(1, undefined, '2001:db8:0:1::2')).toEqual([200]);
  });

  test('a flood does not affect a key from the same address, and drops no key', async () => {
    const { codes } = await start(20);
    expect(await codes(19, 'shop k1')).toEqual(Array.from({ length: 19 }, () => 200));
    await codes(50, 'guess');
    for (let index = 0; index <= requestersMax; index += 1)
      await codes(1, `guess-${index}`, `198.51.100.${index}`);
    expect(await codes(2, 'shop k1')).toEqual([200, 429]);
  });
});

// Behind an untrusted proxy, callers without a key share the address of the people at the console: 180 requests a second made
// every second page a 429, while money waited for a decision.
test('a flood does not affect people signed in at the same address, and each session counts separately', async () => {
  const { app, codes } = await start(20);
  await codes(50, 'guess');
  const asSession = async (cookie: string) =>
    (await app.inject({ url: '/one', remoteAddress: '192.0.2.1', headers: { cookie } })).statusCode;
  for (let count = 0; count < 20; count += 1) expect(await asSession('ada')).toBe(200);
  expect(await asSession('ada')).toBe(429);
  expect(await asSession('bob')).toBe(200);
});
