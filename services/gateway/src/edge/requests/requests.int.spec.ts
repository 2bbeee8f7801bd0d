/** A report of a failed request needs an id: every answer has one, which leads to its record. */
import { connect } from 'node:net';
import { apiErrors, docUrlOf, errorPage } from '@tollgate/gateway-api/http';
import { givenTeam, keyText } from '@tollgate/teams/testing';
import { isRequestId, systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { type TestedApi, startApi } from '../testing/api.ts';

const [shop, games] = [
  { team: 'shop', keyId: 'k1' },
  { team: 'games', keyId: 'k2' },
];
const as = (key: { team: string; keyId: string }) => ({ authorization: `Bearer ${keyText(key)}` });

let api: TestedApi;
beforeEach(async () => {
  api = await startApi(async (store) => {
    for (const key of [shop, games]) await givenTeam(store, key);
  });
});

const ask = (options: InjectOptions) => api.app.inject(options);
const idOf = ({ headers }: LightMyRequestResponse) => String(headers['request-id']);
const recordOf = async (id: string, key = shop) => ask({ url: `/api/v1/requests/${id}`, headers: as(key) });

describe('every answer has an id', () => {
  it.each<[string, InjectOptions, number]>([
    ['a list', { url: '/api/v1/payments', headers: as(shop) }, 200],
    ['nobody', { url: '/api/v1/payments' }, 401],
    ['an unknown path', { url: '/nothing' }, 404],
    ['an unknown payment', { url: '/api/v1/payments/pay_none', headers: as(shop) }, 404],
    ['an unreadable path', { url: '/%ff' }, 400],
    [
      'no JSON',
      {
        method: 'POST',
        url: '/api/v1/payments',
        headers: { ...as(shop), 'content-type': 'application/json' },
        payload: '{',
      },
      400,
    ],
    [
      'no account',
      {
        method: 'POST',
        url: '/api/v1/payments',
        headers: as(shop),
        payload: { product: 'Tea', amount: 1, currency: 'EUR', orderNumber: 'o' },
      },
      409,
    ],
    ['health', { url: '/healthz' }, 200],
  ])('%s', async (_, options, status) => {
    const answer = await ask(options);
    expect([answer.statusCode, isRequestId(idOf(answer))]).toEqual([status, true]);
    if (status === 200) return;
    const { requestId, errors } = answer.json<{
      requestId: string;
      errors: { code: string; docUrl: string }[];
    }>();
    expect(requestId).toBe(idOf(answer));
    for (const { code, docUrl } of errors) expect(docUrl).toBe(`${errorPage}#${code}`);
  });

  it('of ours, whatever id a client sends, even one that looks like ours', async () => {
    const theirs = `req_${'0'.repeat(29)}`;
    const headers = {
      ...as(shop),
      'x-request-id': theirs,
      'tollgate-request-id': theirs,
      'request-id': theirs,
    };
    const answer = await ask({ url: '/api/v1/payments', headers });
    expect(idOf(answer)).not.toBe(theirs);
    const { request } = (await recordOf(idOf(answer))).json<{ request: object }>();
    expect(request).toMatchObject({ id: idOf(answer), clientRequestId: theirs });
  });

  it.each([
    'x'.repeat(129),
    'with space',
    '4392 9632 0355 1251',
    '4392963203551251',
    `Bearer:${keyText(shop)}`,
    'sk_sandbox_0123456789abcdef',
    'whsec_MDEyMzQ1Njc4OWFiY2RlZg==',
  ])('and %j is not stored', async (clientId) => {
    const headers = { ...as(shop), 'x-request-id': clientId };
    const answer = await ask({ url: '/api/v1/payments', headers });
    expect(answer.statusCode).toBe(200);
    expect((await recordOf(idOf(answer))).json<{ request: object }>().request).not.toHaveProperty(
      'clientRequestId',
    );
  });
});

describe('the record of a request', () => {
  it('shows the request, its time, duration and outcome to its team', async () => {
    const before = systemClock.now();
    const answer = await ask({ url: '/api/v1/payments/pay_none?x=secret', headers: as(shop) });
    const { request } = (await recordOf(idOf(answer))).json<{
      request: { at: string; durationMs: number };
    }>();
    expect(request).toMatchObject({
      id: idOf(answer),
      method: 'GET',
      route: '/api/v1/payments/:token',
      status: 404,
      keyId: 'k1',
      environment: 'sandbox',
      errorCode: 'payment_not_found',
      token: 'pay_none',
      providerMs: 0,
    });
    expect(Date.parse(request.at)).toBeGreaterThanOrEqual(before);
    expect(request.durationMs).toBeGreaterThan(0);
    expect(JSON.stringify(request)).not.toContain('secret');
  });

  // A client that mixed up its variables had its key in `requests.db`, in the log, and in the list of requests.
  it.each([keyText(shop), 'sk_sandbox_0123456789abcdef', '4392963203551251'])(
    'stores no secret in place of a token: %s',
    async (secret) => {
      const asked = [
        { url: `/api/v1/payments/${secret}` },
        { method: 'POST', url: '/api/v1/refunds', payload: { token: secret } } as const,
      ];
      for (const each of asked) {
        const answer = await ask({ ...each, headers: { ...as(shop), 'idempotency-key': 'secret' } });
        const { request } = (await recordOf(idOf(answer))).json<{ request: object }>();
        expect(request).not.toHaveProperty('token');
      }
    },
  );

  it('names the payment that a refused command was about', async () => {
    const headers = { ...as(shop), 'idempotency-key': 'r' };
    const payload = { token: 'pay_none', amount: 1 };
    const answer = await ask({ method: 'POST', url: '/api/v1/refunds', headers, payload });
    const { request } = (await recordOf(idOf(answer))).json<{ request: object }>();
    expect(request).toMatchObject({ status: 404, token: 'pay_none', errorCode: 'payment_not_found' });
  });

  it('stores no other text in place of a token', async () => {
    const url = '/api/v1/reviews/pay_4392963203551251/resolve';
    const answer = await ask({ method: 'POST', url, headers: as(shop), payload: { token: 'tea' } });
    const { request } = (await recordOf(idOf(answer))).json<{ request: object }>();
    expect(request).not.toHaveProperty('token');
  });

  it('is stored even if the client disconnected before the answer', async () => {
    const { port, hostname } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), hostname);
    const head = ['POST /api/v1/payments HTTP/1.1', 'Host: x', `Authorization: ${as(shop).authorization}`];
    const body = JSON.stringify({ product: 'Tea', amount: 1, currency: 'EUR', orderNumber: 'gone' });
    const sizes = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    socket.end(`${[...head, ...sizes].join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
    await eventually(async () => {
      const list = await ask({ url: '/api/v1/requests?keyId=k1', headers: as(shop) });
      const { requests } = list.json<{ requests: { method: string }[] }>();
      const posted = requests.filter(({ method }) => method === 'POST');
      expect(posted).toMatchObject([{ route: '/api/v1/payments', errorCode: 'no_account' }]);
    });
  });

  it('is found by no other team, and without an active key by none', async () => {
    const own = idOf(await ask({ url: '/api/v1/payments', headers: as(shop) }));
    const nobodys = idOf(await ask({ url: '/api/v1/payments' }));
    expect((await recordOf(own)).statusCode).toBe(200);
    for (const [id, key] of [
      [own, games],
      [nobodys, shop],
      ['req_', shop],
    ] as const) {
      const { statusCode, body } = await recordOf(id, key);
      expect([statusCode, body]).toEqual([404, expect.stringContaining('request_not_found')]);
    }
  });

  it('is in the list, latest first, by its subject', async () => {
    const refused = idOf(await ask({ url: '/api/v1/payments/pay_none', headers: as(shop) }));
    const listed = idOf(await ask({ url: '/api/v1/payments', headers: as(shop) }));
    await ask({ url: '/api/v1/payments', headers: as(games) });
    const list = async (query: string) => {
      const answer = await ask({ url: `/api/v1/requests?${query}`, headers: as(shop) });
      return answer.json<{
        requests: { id: string }[];
        nextCursor?: string;
        errors?: { parameter: string }[];
      }>();
    };
    const ids = async (query: string) => (await list(query)).requests.map(({ id }) => id);
    expect(await ids('')).toEqual([listed, refused]);
    for (const query of ['status=404', 'status=4xx', 'errorCode=payment_not_found', 'token=pay_none'])
      expect(await ids(query), query).toEqual([refused]);
    expect(await ids('keyId=k2')).toEqual([]);
    const today = new Date(systemClock.now()).toISOString().slice(0, 10);
    expect((await ids(`dateFrom=${today}&dateTo=${today}`)).slice(-2)).toEqual([listed, refused]);
    expect(await ids('dateTo=2020-01-01')).toEqual([]);
    const first = await list('perPage=1&errorCode=payment_not_found');
    expect([first.requests.map(({ id }) => id), first.nextCursor]).toEqual([[refused], undefined]);
    for (const [query, parameter] of [
      ['status=9xx', 'status'],
      ['cursor=1', 'cursor'],
    ])
      expect((await list(query ?? '')).errors?.[0]?.parameter).toBe(parameter);
  });
});

it('every code is explained on a page of the gateway, at the URL in its errors', async () => {
  const { location } = (await ask({ url: errorPage })).headers;
  const page = await ask({ url: new URL(String(location), `http://x${errorPage}`).pathname });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  for (const code of [...Object.keys(apiErrors), 'a_code_of_the_service']) {
    const [address, anchor] = docUrlOf(code).split('#');
    expect([address, page.body.includes(`id="${anchor}"`)], code).toEqual([errorPage, true]);
  }
});
