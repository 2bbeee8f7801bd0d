import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { limitConnections } from './connection-limit.ts';
import { httpServerOptions } from './http-server.ts';
import { endUnreadAnswers } from './unread-answers.ts';

const unreadMs = 500;
const connectionsMax = 3;

/** More than the kernel buffers for a client that does not read. */
const largeAnswer = Buffer.alloc(16 * 1024 * 1024, 'x');

async function start(closedAfterMs = unreadMs) {
  const app = Fastify(httpServerOptions({ bodyLimitBytes: 1_024 }));
  limitConnections(app.server, connectionsMax);
  endUnreadAnswers(app.server, closedAfterMs);
  app.get('/', async () => ({ success: true }));
  const asked = { count: 0 };
  app.addHook('onRequest', async () => void (asked.count += 1));
  app.get('/large', async () => largeAnswer);
  app.get('/late', async () => new Promise((resolve) => setTimeout(resolve, 3 * unreadMs, 'done')));
  app.get('/stream', async (_request, reply) =>
    reply.send(Readable.from(lateEvents(), { objectMode: false })),
  );
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  onTestFinished(() => app.close());
  return { app, asked, port: Number(port), url: `http://127.0.0.1:${port}` };
}

async function* lateEvents(): AsyncGenerator<string> {
  yield 'first;';
  await new Promise((resolve) => setTimeout(resolve, 3 * unreadMs));
  yield 'second';
}

async function ask(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

// One team's lists of 13 MB, requested by 20 connections that did not read, locked out all other teams: a busy connection makes
// no room, and nothing ended its answer.
it('connections that do not read their answers make room for new ones', async () => {
  // Long enough for a busy machine to find them all open.
  const { port, url, app, asked } = await start(10 * unreadMs);
  for (let count = 0; count < connectionsMax; count += 1) await ask(port, '/large');
  await expect.poll(() => asked.count).toBe(connectionsMax);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  const open = () =>
    new Promise((resolve) => void app.server.getConnections((_error, count) => resolve(count)));
  await expect.poll(open, { timeout: 30_000 }).toBe(0);
  expect((await fetch(url)).status).toBe(200);
});

it('a slowly read answer arrives completely', async () => {
  const { port } = await start();
  const socket = await ask(port, '/large');
  let length = 0;
  let isEnded = false;
  socket.on('data', (chunk: Buffer) => void (length += chunk.length)).once('close', () => (isEnded = true));
  while (length < largeAnswer.length && !isEnded) {
    socket.resume();
    await new Promise((resolve) => setTimeout(resolve, 1));
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, unreadMs / 16));
  }
  expect(length).toBeGreaterThan(largeAnswer.length);
});

it.each([
  ['/late', 'done'],
  ['/stream', 'first;second'],
])('a connection without pending data is kept for longer: %s', async (path, expected) => {
  const { url } = await start();
  expect(await (await fetch(`${url}${path}`)).text()).toBe(expected);
});
