/**
 * A program for a container: the test server at EventStoreDB's port and folder, with its health at the same port. gRPC uses
 * HTTP/2 by prior knowledge; other requests are answered as `/health/live`.
 */
import { createServer as createHttpServer } from 'node:http';
import { type Socket, connect, createServer } from 'node:net';
import { createEmbeddedEventStore } from '../../embedded/embedded-event-store.ts';
import { startTestServer } from './server.ts';

const port = 2113;
const file = '/var/lib/eventstore/eventstoredb.db';
const http2Preface = 'PRI';

const store = await createEmbeddedEventStore({ file });
const grpc = await startTestServer({ store });
const health = createHttpServer((request, response) => {
  response.writeHead(request.url === '/health/live' ? 204 : 404).end();
});

/** Both ways at once; the end of either is that of the other. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}

const door = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', (first) => {
    socket.pause();
    socket.unshift(first);
    const isGrpc = first.toString('latin1').startsWith(http2Preface);
    if (isGrpc) join(socket, connect({ host: '127.0.0.1', port: grpc.port, noDelay: true }));
    else health.emit('connection', socket);
    process.nextTick(() => socket.resume());
  });
});
door.listen(port, '0.0.0.0', () => process.stdout.write('stand-in for EventStoreDB: ready\n'));

for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    door.close();
    void grpc
      .close()
      .then(() => store.close())
      .then(() => process.exit(0));
  });
