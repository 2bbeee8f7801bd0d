/** The file of a team's payments in the console: a reader who disconnects, or stops reading, blocks no export of the team. */
import { type Socket, connect } from 'node:net';
import { eventually } from '@tollgate/testing';
import { appendPayment, requested } from '@tollgate/views/testing';
import { expect, it, onTestFinished } from 'vitest';
import type { TestedApiOptions } from './testing/api.ts';
import { startWithShop } from './testing/console.ts';

const url = '/console/payments.csv?team=shop&environment=sandbox';
/** Larger than all buffers between the two. */
const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, 'v'.repeat(480)]));
const count = 500;

async function start(options: TestedApiOptions = {}) {
  const { app, signIn } = await startWithShop(async (store) => {
    for (let n = 0; n < count; n += 1) await appendPayment(store, `pay_${n}`, [requested({ metadata })]);
  }, options);
  const { cookie, get } = await signIn('viewer');
  await eventually(async () => expect((await get(url)).body.length).toBeGreaterThan(10_000_000));
  const { port, hostname } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  /** The maximum downloads of one person, each read only at the beginning. */
  const beginAll = async () => {
    const sockets: Socket[] = [];
    for (let n = 0; n < 4; n += 1) {
      const socket = connect(Number(port), hostname);
      onTestFinished(() => void socket.destroy());
      socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`);
      await new Promise((resolve) => void socket.once('data', resolve));
      socket.pause();
      sockets.push(socket);
    }
    return sockets;
  };
  return { app, cookie, get, beginAll };
}

/** A viewer pressed "Cancel" a few times, and the team's own export was answered 429 until the gateway was restarted. */
it('cancelled downloads of a viewer release their places', async () => {
  const { app, cookie, get, beginAll } = await start();
  const sockets = await beginAll();
  const further = await get(url);
  expect(further.statusCode).toBe(429);
  expect(further.body).toContain('Too many expensive reads');
  // A request for the headers only takes no place, and needs none to be free.
  const head = await app.inject({ method: 'HEAD', url, headers: { cookie } });
  expect(head).toMatchObject({ statusCode: 200, body: '' });
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect((await get(url)).statusCode).toBe(200), { timeoutMs: 10_000 });
}, 90_000);

/** A notebook was closed in the middle of a download: its connection stayed, and so did the export. */
it('a browser that stops reading is disconnected', async () => {
  const { get, beginAll } = await start({ exportStalledMs: 500 });
  await beginAll();
  await eventually(async () => expect((await get(url)).statusCode).toBe(200), { timeoutMs: 10_000 });
}, 90_000);
