import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { answerInJsonOnly, httpServerOptions, listen, silentLog, systemClock } from '@tollgate/service-kit';
import { callbackPath, parseCallbackSecrets } from '@tollgate/provider/callbacks';
import Fastify from 'fastify';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { callbackBodyBytesMax, registerCallbackRoutes } from './callback-ingester.ts';

const secrets = parseCallbackSecrets(`new:${'n'.repeat(32)}`);
const issuedAt = Date.now();
const lifetimeMs = 24 * 3_600_000;
const path = callbackPath(secrets, 'sandbox', 'pay_1', issuedAt);
const forgedPath = `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`;
const body = '{"status":"approved"}';

let publishCount: number;
beforeEach(() => {
  publishCount = 0;
});

/** A callback server on a socket. @returns its port */
async function start(): Promise<number> {
  const app = Fastify(httpServerOptions({ bodyLimitBytes: callbackBodyBytesMax }));
  answerInJsonOnly(app, silentLog);
  const publish = async () => void (publishCount += 1);
  registerCallbackRoutes(app, {
    bus: { publish },
    secrets,
    lifetimeMs,
    clock: systemClock,
    log: silentLog,
  });
  onTestFinished(() => app.close());
  return listen(app, { host: '127.0.0.1', port: 0, variable: 'CALLBACK_PORT' });
}

/** Opens a connection and sends the head of a request, with part of its body. */
function send(port: number, url: string, { announced, sent }: { announced: number; sent: string }) {
  const socket = connect(port, '127.0.0.1');
  // Some of these tests make the server close first.
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  const head = ['Host: x', 'Content-Type: application/json', `Content-Length: ${announced}`].join('\r\n');
  socket.write(`POST ${url} HTTP/1.1\r\n${head}\r\n\r\n${sent}`);
  return socket;
}

const firstLineOf = (socket: ReturnType<typeof send>) =>
  new Promise<string>((resolve) =>
    socket.once('data', (data) => resolve(String(data).split('\r\n')[0] ?? '')),
  );

it('a callback over the wire is accepted', async () => {
  const socket = send(await start(), path, { announced: body.length, sent: body });
  expect(await firstLineOf(socket)).toContain(' 200 ');
  expect(publishCount).toBe(1);
});

it('one without a valid capability is rejected before a byte of its body arrives', async () => {
  const socket = send(await start(), forgedPath, { announced: callbackBodyBytesMax, sent: '' });
  expect(await firstLineOf(socket)).toContain(' 404 ');
  expect(publishCount).toBe(0);
});

it('one that announces too large a body is rejected before a byte of it arrives', async () => {
  const socket = send(await start(), path, { announced: 1_000_000_000, sent: '' });
  expect(await firstLineOf(socket)).toContain(' 413 ');
  expect(publishCount).toBe(0);
});

it('a flood of forged callbacks stops at the server, and real ones still pass', async () => {
  const url = `http://127.0.0.1:${await start()}`;
  const post = (target: string) =>
    fetch(`${url}${target}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  for (let sent = 0; sent < 500; sent += 50)
    await Promise.all(Array.from({ length: 50 }, async () => (await post(forgedPath)).text()));
  expect((await post(path)).status).toBe(200);
  expect(publishCount).toBe(1);
});

it('a body without an end is closed, and never published', async () => {
  const socket = send(await start(), path, { announced: 100, sent: body });
  const answer = await text(socket).catch(() => '');
  expect(answer).not.toContain(' 200 ');
  expect(publishCount).toBe(0);
});

it('headers that a proxy has repeated do not matter', async () => {
  const socket = connect(await start(), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const type = 'Content-Type: application/json';
  socket.write([`POST ${path} HTTP/1.1`, 'Host: x', type, type, 'Content-Length: 2', '', '{}'].join('\r\n'));
  expect(await firstLineOf(socket)).toContain(' 200 ');
  expect(publishCount).toBe(1);
});
