import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { limitConnections } from './connection-limit.ts';
import { httpServerOptions } from './http-server.ts';

const connectionsMax = 20;
const patience = { timeout: 10_000 };

async function start(options: { idleMs?: number } = {}) {
  const app = Fastify(httpServerOptions({ bodyLimitBytes: 1_024, ...options }));
  limitConnections(app.server, connectionsMax);
  const asked = { count: 0 };
  app.addHook('onRequest', async () => void (asked.count += 1));
  const answering = Promise.withResolvers<undefined>();
  app.get('/', async () => ({ success: true }));
  app.get('/slow', async () => answering.promise.then(() => ({ success: true })));
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  onTestFinished(() => app.close());
  return {
    port: Number(port),
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: () => answering.resolve(undefined),
  };
}

/** Opens connections one after the other; each sends a request first if `path` is given. */
async function open(port: number, count: number, path?: string): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    if (path !== undefined) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    if (path === '/') await once(socket, 'data');
    socket.resume();
    sockets.push(socket);
  }
  return sockets;
}

const openOf = (sockets: readonly Socket[]) => sockets.filter(({ readyState }) => readyState === 'open');

// 1,500 idle connections were kept for a minute, without a limit.
it.each([undefined, '/'])('idle connections make room for new ones (after %s)', async (path) => {
  const { port, url } = await start();
  const idle = await open(port, connectionsMax + 5, path);
  await expect.poll(() => openOf(idle).length, patience).toBeLessThanOrEqual(connectionsMax);
  expect((await fetch(url)).status).toBe(200);
  // The longest idle ones were closed.
  expect(openOf(idle.slice(0, 5))).toEqual([]);
});

it('a request under way keeps its connection, and if all are busy the new one is closed', async () => {
  const { port, url, asked, answer } = await start();
  const busy = await open(port, connectionsMax, '/slow');
  await expect.poll(() => asked.count, patience).toBe(connectionsMax);
  const answers = busy.map((socket) => once(socket, 'data').then(([data]) => String(data).slice(9, 12)));
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect(openOf(busy)).toHaveLength(connectionsMax);
  answer();
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['200']));
  expect((await fetch(url)).status).toBe(200);
});

it('a connection without a further request ends when its time is over', async () => {
  const { port } = await start({ idleMs: 100 });
  const sockets = await open(port, 3, '/');
  await expect.poll(() => openOf(sockets), patience).toEqual([]);
});
