import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { answerInJsonOnly, endConnectionsOnClose, httpServerOptions } from './http-server.ts';
import { silentLog } from './log.ts';

const newServer = () => {
  const app = Fastify(httpServerOptions({ bodyLimitBytes: 1_024 }));
  answerInJsonOnly(app, silentLog);
  return app;
};

const serving = () => {
  const app = newServer();
  app.all('/', async ({ body }) => ({ success: true, body }));
  return app;
};

// It was refused with Fastify's own 503 body, without a code and Retry-After.
it('a request during the close of the server is answered before it has closed', async () => {
  const app = newServer();
  endConnectionsOnClose(app);
  let isDone = false;
  app.post('/', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    isDone = true;
    return { success: true };
  });
  const { port, hostname } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const accepted = once(app.server, 'connection');
  const socket = connect(Number(port), hostname);
  await accepted;
  const wasDoneWhenClosed = app.close().then(() => isDone);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  expect(await wasDoneWhenClosed).toBe(true);
});

it.each(['/%ff', '/%', `/${'x'.repeat(600)}`])(
  'a path that cannot be read (%.10s) gets the error body',
  async (url) => {
    const app = newServer();
    app.get('/:token', async () => ({ success: true }));
    const answer = await app.inject(url);
    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    expect(answer.statusCode).toBeLessThan(500);
    expect(answer.json()).toMatchObject({
      success: false,
      errors: [{ kind: 'invalid_request_error', parameter: 'path' }],
    });
  },
);

// Both were 404, so that a caller looked for a typing error in the path.
it('an unsupported method is refused with the allowed ones, and HEAD is routed like GET', async () => {
  const app = newServer();
  await app.register(async (inner) => {
    inner.get('/payments/:token', async () => ({ success: true }));
    inner.post('/payments/:token/capture', async () => ({ success: true }));
    inner.get('/payments/recent', async () => ({ success: true }));
    inner.post('/payments/confirm', async () => ({ success: true }));
    inner.post('/payments/recent', async () => ({ success: true }));
  });
  const ask = async (method: 'DELETE' | 'GET' | 'HEAD' | 'OPTIONS', url: string) => {
    const { statusCode, headers, body } = await app.inject({ method, url });
    return [statusCode, headers.allow, /"code":"(.*?)"/.exec(body)?.[1]];
  };
  expect(await ask('DELETE', '/payments/pay_1?x=/')).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
  expect(await ask('GET', '/payments/pay_1/capture')).toEqual([405, 'POST', 'method_not_allowed']);
  expect(await ask('OPTIONS', '/payments/recent')).toEqual([405, 'GET, HEAD, POST', 'method_not_allowed']);
  // No payment has that name: Allow once listed the methods of a payment.
  expect(await ask('OPTIONS', '/payments/confirm')).toEqual([405, 'POST', 'method_not_allowed']);
  for (const path of ['/payments', '/payments/pay_1/', '/payments/pay_1/refund', '/'])
    expect(await ask('GET', path)).toEqual([404, undefined, 'path_not_found']);
  // It was 400: a body was looked for that it must not have.
  const withBody = { headers: { 'content-type': 'text/plain' }, payload: 'x' };
  const put = await app.inject({ method: 'PUT', url: '/payments/pay_1', ...withBody });
  expect([put.statusCode, put.headers.allow]).toEqual([405, 'GET, HEAD']);
  const head = await app.inject({ method: 'HEAD', url: '/payments/pay_1' });
  expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', '16']);
});

// Otherwise the last one would count, even if a proxy had checked the first.
it.each([
  ['{"amount":1,"amount":100000}', 'amount'],
  ['{"destination":{"card":{},"card":{}}}', 'destination.card'],
])('a body with a key twice is refused, and the key named: %s', async (payload, parameter) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await serving().inject({ method: 'POST', url: '/', headers, payload });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ errors: [{ code: 'invalid_json', parameter }] });
  const valid = await serving().inject({ method: 'POST', url: '/', headers, payload: '{"a":{"b":1},"b":1}' });
  expect(valid.statusCode).toBe(200);
});

// The message was "The body is not JSON that we accept", for any length: a superfluous comma had to be searched for.
it.each([
  ['{"a":1,}', 'The body is not valid JSON: look at line 1, column 8.'],
  ['{\n  "a": 1\n  "pan": 4392963203551251\n}', 'The body is not valid JSON: look at line 3, column 3.'],
  ['{"a":', 'The body is not valid JSON: it ends unexpectedly.'],
  ['a=4392963203551251', 'The body is not valid JSON.'],
  ['{"__proto__":{"a":1}}', 'The body has a name that is not accepted: __proto__ or constructor.'],
])('the answer locates invalid JSON in a body, and repeats nothing of it: %j', async (payload, message) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await serving().inject({ method: 'POST', url: '/', headers, payload });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ errors: [{ code: 'invalid_json', message, parameter: 'body' }] });
});

// Invalid bytes were read as U+FFFD: the orders Grüße-1 and Größe-1, sent as ISO 8859-1, were one payment. The
// declared charset was ignored, and gzip was answered with a confusing message about JSON.
it.each([
  ['bytes of ISO 8859-1', Buffer.from('{"a":"Größe"}', 'latin1'), {}, 400, 'invalid_json', 'body'],
  ['a cut character', Buffer.from('7b2261223a22c3', 'hex'), {}, 400, 'invalid_json', 'body'],
  [
    'another charset',
    '{}',
    { 'content-type': 'application/json; charset=ISO-8859-1' },
    415,
    'unsupported_media_type',
    'Content-Type',
  ],
  [
    'two charsets',
    '{}',
    { 'content-type': 'application/json; charset=utf-8; charset=utf-16' },
    415,
    'unsupported_media_type',
    'Content-Type',
  ],
  [
    'a compressed body',
    Buffer.from('1f8b08', 'hex'),
    { 'content-encoding': 'gzip' },
    415,
    'unsupported_media_type',
    'Content-Encoding',
  ],
  [
    'a plain body that is said to be compressed',
    '{}',
    { 'content-encoding': 'br' },
    415,
    'unsupported_media_type',
    'Content-Encoding',
  ],
])('a body is UTF-8 as it is: %s is refused', async (_name, payload, change, status, code, parameter) => {
  const headers = { 'content-type': 'application/json', ...change };
  const answer = await serving().inject({ method: 'POST', url: '/', headers, payload });
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toMatchObject({ errors: [{ code, parameter }] });
});

it.each(['application/json;charset=utf8', 'application/json; charset="UTF-8"', 'application/json'])(
  'a body is UTF-8 as it is: %s is accepted',
  async (type) => {
    const headers = { 'content-type': type, 'content-encoding': 'identity' };
    const answer = await serving().inject({ method: 'POST', url: '/', headers, payload: '{"a":"Größe"}' });
    expect([answer.statusCode, answer.json()]).toEqual([200, { success: true, body: { a: 'Größe' } }]);
  },
);

it.each([
  ['GET', '/', ['Authorization: Bearer a', 'Authorization: Bearer a'], 'Authorization'],
  ['POST', '/', ['Idempotency-Key: k', 'Idempotency-Key: k', 'Content-Length: 0'], 'Idempotency-Key'],
  [
    'POST',
    '/',
    ['Content-Type: application/json', 'Content-Type: text/plain', 'Content-Length: 2'],
    'Content-Type',
  ],
  ['GET', '/nowhere', ['Tollgate-Team: a,b'], 'Tollgate-Team'],
  ['GET', '/?orderNumber=Gr%F6%DFe', [], 'query'],
])('an ambiguous request is refused with its fault: %s %s %j', async (method, path, lines, parameter) => {
  const app = serving();
  onTestFinished(() => app.close());
  const { port, hostname } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname);
  socket.write([`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'));
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1.1 400 /);
  expect(JSON.parse(body)).toMatchObject({ errors: [{ code: 'invalid_request', parameter }] });
});

// Clients that announce JSON with everything they send could remove no endpoint: 400, "The body is not JSON that we accept".
it('an empty body is no body, with any content type', async () => {
  const app = newServer();
  const given = async ({ body }: { body: unknown }) => ({ hasBody: body !== undefined });
  app.delete('/', given);
  app.post('/', given);
  const headers = { 'content-type': 'application/json', 'content-length': '0' };
  for (const method of ['DELETE', 'POST'] as const) {
    const answer = await app.inject({ method, url: '/', headers });
    expect([answer.statusCode, answer.json()]).toEqual([200, { hasBody: false }]);
  }
});

// Fastify's own limit of 10 seconds ended such a process as uncaught.
it('a very slow start continues', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const app = Fastify(httpServerOptions({ bodyLimitBytes: 1_024 }));
  const waking = Promise.withResolvers<undefined>();
  void app.register(() => waking.promise);
  const ready = app.ready();
  await vi.advanceTimersByTimeAsync(3_600_000);
  waking.resolve(undefined);
  await expect(ready).resolves.toBe(app);
});
