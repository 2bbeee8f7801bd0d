import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { endUnlessArrived, followRequests } from './slow-requests.ts';

/** Closes incomplete requests after 200 ms, and checks every 50 ms. */
async function serve() {
  const app = Fastify({
    requestTimeout: 200,
    http: { headersTimeout: 200, requestTimeout: 200, connectionsCheckingInterval: 50 },
    clientErrorHandler: (error, socket) =>
      endUnlessArrived(error, socket, () => void socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n')),
  });
  followRequests(app.server);
  app.post('/', async ({ body }) => ({ body }));
  onTestFinished(() => app.close());
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}

const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n';

/** As after SIGSTOP or a suspension: nothing is read meanwhile, and the time passes. */
function freeze(forMs: number): void {
  const until = performance.now() + forMs;
  while (performance.now() < until);
}

// A gateway was frozen between taking connections and reading them. Of 96 requests that had arrived whole, five were answered 408.
it('a request that arrived completely while the process was suspended is answered', async () => {
  const socket = connect(await serve(), '127.0.0.1');
  await once(socket, 'connect');
  // The server reads the beginning, and the rest arrives while it is suspended.
  socket.write(head);
  await delay(20);
  // From here, Node looks at its timers before it reads.
  await new Promise((resolve) => setImmediate(resolve));
  socket.write('Connection: close\r\n\r\n{"a":1}');
  freeze(400);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*{"body":{"a":1}}$/);
});

it.each([
  ['nothing', ''],
  ['half of the headers', head],
  ['half of the body', `${head}\r\n{"a"`],
  ['half of a second request', `${head}\r\n{"a":1}POST / HTTP/1.1\r\n`],
])('a client that sends %s is ended', async (_name, sent) => {
  const socket = connect(await serve(), '127.0.0.1');
  socket.write(sent);
  expect(await text(socket)).toMatch(/HTTP\/1.1 408 /);
});
