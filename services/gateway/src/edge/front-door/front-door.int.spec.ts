/** The front door of a process, in front of services that record their requests. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { parseInternalSecrets } from '../../configuration/internal-secrets.ts';
import { createInternalCredential } from '../internal-credential.ts';
import { goneOrigin, startFrontDoor, startService } from './testing/services.ts';

const errorsOf = async (answer: { body: { json(): Promise<unknown> } }) =>
  ((await answer.body.json()) as { errors: { code: string }[] }).errors.map(({ code }) => code);

const internalSecret = `k1:${'i'.repeat(32)}`;
const json = { 'content-type': 'application/json' };

describe('forwarding', () => {
  it('passes the request unchanged to its service, and the answer back', async () => {
    const answer = (_request: IncomingMessage, response: ServerResponse) =>
      void response
        .writeHead(422, { 'tollgate-position': '17', 'retry-after': '9' })
        .end('{"success":false}');
    const [commands, queries, notifier] = [
      await startService(answer),
      await startService(),
      await startService(),
    ];
    const url = await startFrontDoor({
      COMMAND_SERVICE_URL: commands.origin,
      QUERY_SERVICE_URL: queries.origin,
      NOTIFIER_URL: notifier.origin,
    });
    // Spaces, order and even invalid JSON are left to the service.
    const body = '{ "product": "Té", "amount": 1,, }';
    const headers = { ...json, authorization: 'Bearer tg_1', 'idempotency-key': 'k 1' };
    const answered = await request(`${url}/api/v1/payments`, { method: 'POST', headers, body });
    expect([answered.statusCode, await answered.body.text()]).toEqual([422, '{"success":false}']);
    expect(answered.headers).toMatchObject({ 'tollgate-position': '17', 'retry-after': '9' });
    expect(commands.seen).toMatchObject([{ method: 'POST', url: '/api/v1/payments', headers, body }]);
    await (await request(`${url}/api/v1/payments?perPage=2&cursor=a%2Fb+c`)).body.dump();
    expect(queries.seen).toMatchObject([
      { method: 'GET', url: '/api/v1/payments?perPage=2&cursor=a%2Fb+c', body: '' },
    ]);
    await (await request(`${url}/api/v1/webhooks/replay`, { method: 'POST' })).body.dump();
    expect(notifier.seen).toMatchObject([{ method: 'POST', url: '/api/v1/webhooks/replay' }]);
  });

  it("drops headers of the connection, and reports the caller's true address", async () => {
    const answer = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(200, { connection: 'close, x-inner', 'x-inner': '1', 'x-kept': '2' }).end('{}');
    const queries = await startService(answer);
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin });
    const answered = await sendRaw(url, [
      'GET /api/v1/payments HTTP/1.1',
      'Host: pay.example',
      'Connection: x-hop',
      'X-Hop: 1',
      'TE: trailers',
      'Expect: 100-continue',
      'Proxy-Authorization: Basic eDp5',
      'X-Forwarded-For: 203.0.113.9',
      'X-Forwarded-Host: evil.example',
      'Forwarded: for=203.0.113.9',
    ]);
    const [{ headers } = { headers: {} }] = queries.seen;
    expect(headers).toMatchObject({
      host: new URL(queries.origin).host,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
    });
    for (const name of ['x-hop', 'te', 'expect', 'proxy-authorization', 'x-forwarded-host', 'forwarded'])
      expect(headers, name).not.toHaveProperty(name);
    expect(answered).toMatch(/\r\nx-kept: 2\r\n/i);
    expect(answered).not.toMatch(/\r\n(x-inner|connection: close, x-inner)/i);
  });

  it("accepts the caller's address from trusted proxies", async () => {
    const queries = await startService();
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin, TRUSTED_PROXIES: '127.0.0.0/8' });
    const headers = { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' };
    await (await request(`${url}/api/v1/payouts`, { headers })).body.dump();
    expect(queries.seen[0]?.headers['x-forwarded-for']).toBe('203.0.113.9, 127.0.0.1');
  });

  it('passes the latest position of the key to reads; callers cannot set it', async () => {
    const answer = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(200, { 'tollgate-position': '17' }).end('{}');
    const [commands, queries] = [await startService(answer), await startService()];
    const url = await startFrontDoor({
      COMMAND_SERVICE_URL: commands.origin,
      QUERY_SERVICE_URL: queries.origin,
    });
    const post = { method: 'POST', headers: { ...json, authorization: 'Bearer one' }, body: '{}' } as const;
    await (await request(`${url}/api/v1/payments`, post)).body.dump();
    for (const authorization of ['Bearer one', 'Bearer two']) {
      const headers = { authorization, 'tollgate-own-position': '99' };
      await (await request(`${url}/api/v1/payments`, { headers })).body.dump();
    }
    expect(queries.seen.map(({ headers }) => headers['tollgate-own-position'])).toEqual(['17', undefined]);
  });

  it('adds our id, under which the request is recorded; callers can neither set nor see it', async () => {
    const notes = 'environment=sandbox&team=shop&keyId=k1&token=pay_1&errorCode=no_account&providerMs=12';
    const answer = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(409, { 'tollgate-request-notes': notes, 'request-id': 'theirs' }).end('{}');
    const [commands, queries] = [await startService(answer), await startService()];
    const url = await startFrontDoor({
      COMMAND_SERVICE_URL: commands.origin,
      QUERY_SERVICE_URL: queries.origin,
      INTERNAL_SECRETS: internalSecret,
    });
    const headers = { ...json, 'tollgate-request-id': `req_${'0'.repeat(29)}`, 'x-request-id': 'mine' };
    const answered = await request(`${url}/api/v1/payments`, { method: 'POST', headers, body: '{}' });
    await answered.body.dump();
    const id = String(answered.headers['request-id']);
    expect(answered.headers).not.toHaveProperty('tollgate-request-notes');
    expect(commands.seen[0]?.headers).toMatchObject({ 'tollgate-request-id': id, 'x-request-id': 'mine' });
    const reported = await eventually(() => {
      expect(queries.reports).not.toEqual([]);
      return Promise.resolve(queries.reports[0]);
    });
    expect(JSON.parse(reported?.body ?? '')).toMatchObject([
      {
        id,
        method: 'POST',
        route: '/api/v1/payments',
        status: 409,
        providerMs: 12,
        token: 'pay_1',
        caller: { team: 'shop', keyId: 'k1' },
        errorCode: 'no_account',
        clientRequestId: 'mine',
      },
    ]);
    const credential = createInternalCredential(parseInternalSecrets(internalSecret), systemClock);
    const shown = reported?.headers['tollgate-internal'];
    expect(credential.isValid(shown, 'POST', '/internal/requests')).toBe(true);
  });

  it('answers HEAD like GET', async () => {
    const queries = await startService();
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin });
    const answered = await request(`${url}/api/v1/payments/pay_1`, { method: 'HEAD' });
    expect([answered.statusCode, await answered.body.text()]).toEqual([200, '']);
    expect(queries.seen).toMatchObject([{ method: 'HEAD', url: '/api/v1/payments/pay_1' }]);
  });

  // Node passed both keys joined to the front door, which was a third key to the service.
  it.each([
    ['Idempotency-Key', ['Idempotency-Key: k', 'Idempotency-Key: k']],
    ['Authorization', ['Authorization: Bearer a', 'Authorization: Bearer b']],
    ['Content-Type', ['Content-Type: application/json', 'Content-Type: text/plain']],
  ])('has no header twice that decides something: %s', async (name, lines) => {
    const commands = await startService();
    const url = await startFrontDoor({ COMMAND_SERVICE_URL: commands.origin });
    const head = ['POST /api/v1/refunds HTTP/1.1', 'Host: x', 'Content-Length: 0', ...lines];
    const answer = await sendRaw(url, head);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain(`"parameter":"${name}"`);
    expect(commands.seen).toEqual([]);
  });

  it('is no body over the limit', async () => {
    const commands = await startService();
    const url = await startFrontDoor({ COMMAND_SERVICE_URL: commands.origin });
    const answered = await request(`${url}/api/v1/refunds`, {
      method: 'POST',
      headers: json,
      body: `"${'x'.repeat(64 * 1024)}"`,
    });
    expect([answered.statusCode, await errorsOf(answered)]).toEqual([413, ['body_too_large']]);
    expect(commands.seen).toEqual([]);
  });

  it('streams: the beginning of an answer arrives before its end is written', async () => {
    let finish = () => {};
    const queries = await startService((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' }).write('token,amount\n');
      finish = () => void response.end('pay_1,5\n');
    });
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin });
    const { body } = await request(`${url}/api/v1/payments`);
    const chunks: string[] = [];
    for await (const chunk of body) {
      chunks.push(String(chunk));
      finish();
    }
    expect(chunks).toEqual(['token,amount\n', 'pay_1,5\n']);
  });
});

/** Sends a raw request, without a client that would correct it, and returns the whole answer. */
function sendRaw(url: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let answer = '';
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (data: Buffer) => {
      answer += data.toString();
      answer = answer.replace('HTTP/1.1 100 Continue\r\n\r\n', '');
      // Bodies of these tests are short, and arrive with their headers.
      if (answer.includes('\r\n\r\n')) socket.end();
    });
    socket.on('close', () => resolve(answer));
  });
}

describe('the path that a service sees is the one that was routed by', () => {
  it('however it is written', async () => {
    const queries = await startService();
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin });
    const paths = {
      '/api/v1/payments/pay%5F1': '/api/v1/payments/pay_1',
      '/api/v1/payments/pay_1/%65vents': '/api/v1/payments/pay_1/events',
      '/api/v1/payments/a%20b': '/api/v1/payments/a%20b',
      '/api/v1/payments/a%3Fb': '/api/v1/payments/a%3Fb',
      '/api/v1/payments/a%252Fb': '/api/v1/payments/a%252Fb',
      '/api/v1/payments/a;b': '/api/v1/payments/a%3Bb',
      '/api/v1/payments/%C3%A9': '/api/v1/payments/%C3%A9',
      '/api/v1/payments/a#b': '/api/v1/payments/a',
      'http://x/api/v1/payments': '/api/v1/payments',
    };
    for (const path of Object.keys(paths))
      expect(await sendRaw(url, [`GET ${path} HTTP/1.1`, 'Host: x']), path).toMatch(/^HTTP\/1.1 200/);
    expect(queries.seen.map((each) => each.url)).toEqual(Object.values(paths));
  });

  it('and no service receives an ambiguous path', async () => {
    const all = await startService();
    const url = await startFrontDoor({
      COMMAND_SERVICE_URL: all.origin,
      QUERY_SERVICE_URL: all.origin,
      NOTIFIER_URL: all.origin,
    });
    const below = [
      '..',
      '%2e%2e',
      '..%2f..%2finternal%2flooks',
      'a%2Fevents',
      'a%5Cb',
      'a//events',
      '.',
      'a..',
      '%',
    ];
    for (const path of [
      ...below.map((name) => `/api/v1/payments/${name}`),
      '/api/v1/payments/a/../../../../internal/inquiries',
      '/api/v1//payments',
      '//api/v1/payments',
      '/api/v1/payments/',
      '/API/v1/payments',
      '/internal/inquiries',
      '/api/v1/../../internal/inquiries',
      '/api/v1/payments%2Fa',
      'http://x/internal/inquiries',
    ])
      for (const method of ['GET', 'POST']) {
        const answer = await sendRaw(url, [`${method} ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 0']);
        expect(answer, `${method} ${path}`).toMatch(/^HTTP\/1.1 40[045]/);
      }
    expect(all.seen).toEqual([]);
  });

  it('and the documentation and health are its own', async () => {
    const url = await startFrontDoor({});
    for (const path of ['/docs/', '/healthz', '/openapi.json']) {
      const answered = await request(`${url}${path}`);
      await answered.body.dump();
      expect(answered.statusCode, path).toBe(200);
    }
  });
});

describe('the credential between services', () => {
  it('is set by the front door, with any header from a team', async () => {
    const queries = await startService();
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin, INTERNAL_SECRETS: internalSecret });
    const headers = { 'tollgate-internal': 'k1.1.forged' };
    const answered = await request(`${url}/api/v1/payments?perPage=1`, { headers });
    await answered.body.dump();
    const given = queries.seen[0]?.headers['tollgate-internal'];
    const credential = createInternalCredential(parseInternalSecrets(internalSecret), systemClock);
    expect(credential.isValid(given, 'GET', '/api/v1/payments')).toBe(true);
    expect(answered.headers).not.toHaveProperty('tollgate-internal');
  });
});

describe('several instances of a service', () => {
  it('are tried in turn, skipping unavailable ones, to which nothing was sent', async () => {
    const [first, second] = [await startService(), await startService()];
    const origins = [first.origin, await goneOrigin(), second.origin];
    const url = await startFrontDoor({ COMMAND_SERVICE_URL: origins.join(',') });
    for (let count = 0; count < 12; count += 1) {
      const answered = await request(`${url}/api/v1/payouts`, {
        method: 'POST',
        headers: json,
        body: '{"a":1}',
      });
      expect([answered.statusCode, await answered.body.text()]).toEqual([200, '{"success":true}']);
    }
    expect(first.seen.length + second.seen.length).toBe(12);
    for (const { seen } of [first, second]) {
      expect(seen.length).toBeGreaterThanOrEqual(4);
      expect(new Set(seen.map(({ body }) => body))).toEqual(new Set(['{"a":1}']));
    }
  });

  it('that are all unavailable cause 503 with Retry-After', async () => {
    const origins = [await goneOrigin(), await goneOrigin()];
    const url = await startFrontDoor({ COMMAND_SERVICE_URL: origins.join(',') });
    const answered = await request(`${url}/api/v1/payments`, { method: 'POST', headers: json, body: '{}' });
    expect([answered.statusCode, answered.headers['retry-after']]).toEqual([503, '1']);
    expect(answered.headers['content-type']).toMatch(/^application\/json/);
    expect(await errorsOf(answered)).toEqual(['service_unavailable']);
  });

  // The body of the service's own 408 had another request id than its header.
  it('that do not read a request in time are passed, and answered for if there is no other', async () => {
    const late = await startService((_request, response) => void response.writeHead(408).end('{}'));
    const other = await startService();
    const post = async (origins: string) => {
      const url = await startFrontDoor({ COMMAND_SERVICE_URL: origins });
      return request(`${url}/api/v1/payments`, { method: 'POST', headers: json, body: '{"a":1}' });
    };
    expect((await post(`${late.origin},${other.origin}`)).statusCode).toBe(200);
    expect(other.seen).toMatchObject([{ body: '{"a":1}' }]);
    const answered = await post(late.origin);
    const { requestId, errors } = (await answered.body.json()) as { requestId: string; errors: object[] };
    expect(answered.statusCode).toBe(503);
    expect(answered.headers).toMatchObject({ 'retry-after': '1', 'request-id': requestId });
    expect(errors).toMatchObject([{ code: 'service_unavailable' }]);
  });

  // A request that was sent may have been carried out: to send it again is the team's to decide, under its key.
  it.each(['GET', 'POST'] as const)('never get a %s that was sent to one of them', async (method) => {
    const instances = [
      await startService((incoming) => void incoming.socket.destroy()),
      await startService((incoming) => void incoming.socket.destroy()),
    ];
    const origins = instances.map(({ origin }) => origin).join(',');
    const url = await startFrontDoor({ COMMAND_SERVICE_URL: origins, QUERY_SERVICE_URL: origins });
    const answered = await request(`${url}/api/v1/payments`, { method });
    expect([answered.statusCode, answered.headers['retry-after']]).toEqual([503, '1']);
    expect(await errorsOf(answered)).toEqual(['answer_lost']);
    expect(instances.flatMap(({ seen }) => seen)).toHaveLength(1);
  });

  // Only its status has arrived: the team has received nothing yet.
  it('cause an error for a lost answer if one dies between headers and body', async () => {
    const commands = await startService((_request, response) => {
      response.writeHead(201, { 'content-length': '99', 'tollgate-position': '17' }).flushHeaders();
      response.socket?.end();
    });
    const url = await startFrontDoor({ COMMAND_SERVICE_URL: commands.origin });
    const answered = await request(`${url}/api/v1/payments`, { method: 'POST', headers: json, body: '{}' });
    expect([answered.statusCode, answered.headers['retry-after']]).toEqual([503, '1']);
    expect(answered.headers).not.toHaveProperty('tollgate-position');
    expect(await errorsOf(answered)).toEqual(['answer_lost']);
    expect(commands.seen).toHaveLength(1);
  });

  it.each([{}, { 'content-length': '10' }])(
    'are seen to have died in the middle of an answer with %j',
    async (headers) => {
      const queries = await startService((_request, response) => {
        response.writeHead(200, headers).write('token');
        setImmediate(() => response.socket?.end());
      });
      const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin });
      const { statusCode, body } = await request(`${url}/api/v1/payments.csv`);
      expect(statusCode).toBe(200);
      await expect(body.text()).rejects.toThrow();
      expect(queries.seen).toHaveLength(1);
    },
  );

  it('are notified when a client disconnects, even before the answer', async () => {
    const closed: string[] = [];
    let answerNow = () => {};
    const queries = await startService((incoming, response) => {
      const { url = '' } = incoming;
      response.once('close', () => closed.push(url));
      const endless = new Readable({ read: () => void endless.push('x'.repeat(65_536)) });
      answerNow = () => void endless.pipe(response);
    });
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin });
    const path = '/api/v1/payments.csv';
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await eventually(() => expect(queries.seen).toHaveLength(1));
    socket.resetAndDestroy();
    answerNow();
    await eventually(() => expect(closed).toEqual([path]));
  });

  it('are not tried again after a temporary refusal', async () => {
    const answer = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(503, { 'retry-after': '0' }).end('{"success":false}');
    const queries = await startService(answer);
    const url = await startFrontDoor({ QUERY_SERVICE_URL: queries.origin });
    const answered = await request(`${url}/api/v1/payments`);
    expect([answered.statusCode, await answered.body.text()]).toEqual([503, '{"success":false}']);
    expect(queries.seen).toHaveLength(1);
  });

  it('are reported by /readyz', async () => {
    const ready = (degraded: readonly string[]) => (_request: IncomingMessage, response: ServerResponse) =>
      void response.end(JSON.stringify({ ready: true, notReady: [], degraded }));
    const [commands, queries] = [await startService(ready(['message-bus'])), await startService(ready([]))];
    const readiness = async (env: Record<string, string>) => {
      const answered = await request(`${await startFrontDoor(env)}/readyz`);
      return [answered.statusCode, await answered.body.json()];
    };
    const both = { COMMAND_SERVICE_URL: commands.origin, QUERY_SERVICE_URL: queries.origin };
    const all = { ...both, NOTIFIER_URL: queries.origin };
    expect(await readiness(all)).toEqual([200, { ready: true, notReady: [], degraded: ['message-bus'] }]);
    expect(await readiness(both)).toEqual([
      ...[503, { ready: false, notReady: ['notifier'], degraded: ['message-bus'] }],
    ]);
    const halfGone = { ...all, QUERY_SERVICE_URL: `${queries.origin},${await goneOrigin()}` };
    expect(await readiness(halfGone)).toEqual([
      ...[200, { ready: true, notReady: [], degraded: ['message-bus', 'query-service'] }],
    ]);
  });
});

it('refuses to start without the address of a service', async () => {
  await expect(startFrontDoor({ NOTIFIER_URL: '' })).rejects.toThrow('NOTIFIER_URL');
});
