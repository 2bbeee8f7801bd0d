/** Closes connections whose client does not read its answer. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes a connection whose client takes nothing of its answer for `unreadMs`, at the latest after twice that. One that has
 * nothing to take keeps its connection: a request that is worked on, or a stream of events in which nothing happens.
 *
 * Call it before the server listens.
 */
export function endUnreadAnswers(server: Pick<Server, 'on' | 'setTimeout'>, unreadMs: number): void {
  const answering = new Set<Socket>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.add(socket);
    response.once('close', () => answering.delete(socket));
  });
  // Node asks as soon as nothing has come or gone for this long, and closes what has no listener.
  server.setTimeout(unreadMs, (socket: Socket) => {
    if (!answering.has(socket) || socket.writableLength > 0) socket.destroy();
  });
}
