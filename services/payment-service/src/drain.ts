import type { Socket } from 'node:net';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';

/** Requests under way have this long to end when the service stops. */
const drainMs = 5_000;

/**
 * Gives a function that breaks off every connection of a server. Node's own leaves out those that are still in their
 * TLS handshake, and a server is not closed while one of them is open.
 */
export function trackConnections(app: FastifyInstance): () => void {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

/** Takes no more connections, waits for requests under way, and breaks off what takes longer than five seconds. */
export async function drain(
  servers: readonly { app: FastifyInstance; closeNow: () => void }[],
  clock: Pick<Clock, 'sleep'>,
): Promise<void> {
  const isClosed = new AbortController();
  const closeAllNow = () => {
    for (const { closeNow } of servers) closeNow();
  };
  clock.sleep(drainMs, isClosed.signal).then(closeAllNow, () => undefined);
  await Promise.all(servers.map(({ app }) => app.close()));
  isClosed.abort();
}
