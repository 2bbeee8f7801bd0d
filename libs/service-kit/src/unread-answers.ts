/** Closes connections whose client does not read its answer. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes a connection whose client reads nothing of its answer for `unreadMs`, at the latest after twice that. A
 * connection without pending data is kept: during a request, or an idle stream of events.
 *
 * Call it before the server listens.
 */
export function endUnreadAnswers(server: Pick<Server, 'on' | 'setTimeout'>, unreadMs: number): void {
  const answering = new Set<Socket>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.add(socket);
    response.once('close', () => answering.delete(socket));
  });
  // Node asks after this much inactivity, and closes sockets without a listener.
  server.setTimeout(unreadMs, (socket: Socket) => {
    if (!answering.has(socket) || socket.writableLength > 0) socket.destroy();
  });
}
