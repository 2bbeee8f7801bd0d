import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLog, createRequestIds, readConfig, systemClock, systemIds } from '@tollgate/service-kit';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import { createServer } from '../http-server.ts';

let lines: Record<string, unknown>[];
beforeEach(() => {
  lines = [];
});

/** Sends it raw, and returns the status, the headers and the body. */
async function send(sent: string) {
  const log = createLog('api', 'info', { write: (line) => void lines.push(JSON.parse(line)) });
  const newRequestId = createRequestIds({ clock: systemClock, ids: systemIds });
  const { connections } = readConfig(gatewayConfigSchema, {});
  const app = createServer({ connections, bodyLimitBytes: 1_024, newRequestId, log });
  onTestFinished(() => app.close());
  app.get('/api/v1/payments/:token', async () => ({ success: true }));
  const { port, hostname } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname);
  socket.write(sent);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const { requestId, errors } = JSON.parse(body) as { requestId: string; errors: object[] };
  return { status: Number(head.split(' ')[1]), head, requestId, error: errors[0] };
}

// One message covered all: "no HTTP, too slow, or its header is too long". CONNECT, sent to a gateway that is
// misconfigured as a proxy, got no answer, and a missing Host or an odd Expect an empty one.
it.each([
  ['a method that is none', 'TEA / HTTP/1.1\r\n\r\n', 400, 'cannot be read as HTTP'],
  ['long headers', `GET / HTTP/1.1\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431, 'at most 16 KiB'],
  ['a path that no router reads', 'GET /%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400, 'path'],
  ['what is for a proxy', 'CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'not a proxy'],
  ['an odd Expect', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n', 417, '100-continue'],
  ['no Host', 'GET /api/v1/payments/pay_1 HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'need a Host header'],
])('%s gets the error body, and a log line', async (_, sent, status, said) => {
  const answer = await send(sent);
  expect(answer).toMatchObject({
    status,
    error: { code: 'invalid_request', kind: 'invalid_request_error', message: expect.stringContaining(said) },
  });
  expect(answer.head.toLowerCase()).toContain(`request-id: ${answer.requestId}`);
  expect(lines).toMatchObject([
    { msg: 'answered', requestId: answer.requestId, statusCode: status, code: 'invalid_request' },
  ]);
});

// It was `invalid_request` without Retry-After: by the six outcomes nothing had been created, although the earlier try had
// charged the card.
it('a stalled request is to be retried, and its answer has one id', async () => {
  const answer = await send('GET / HTTP/1.1\r\nHost: x\r\n');
  expect(answer).toMatchObject({ status: 408, error: { code: 'request_timeout', kind: 'api_error' } });
  expect(answer.head).toMatch(/\r\nRetry-After: 1$/m);
  expect(answer.head).toContain(`Request-Id: ${answer.requestId}`);
});
