/** Bounds the connections of an HTTP server without letting those that do nothing keep others out. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Above `connectionsMax` connections, the one that has been idle the longest is closed: without a request under way,
 * before its first one, or during the handshake. Only if all of them are busy, the new one is closed.
 *
 * Call it before the server listens.
 */
export function limitConnections(server: Pick<Server, 'on'>, connectionsMax: number): void {
  const open = new Set<Socket>();
  // In the order in which they became idle. By peer, because over TLS a request has only its encrypted socket.
  const idle = new Map<string, Socket>();

  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    open.add(socket);
    idle.set(peer, socket);
    socket.once('close', () => {
      open.delete(socket);
      if (idle.get(peer) === socket) idle.delete(peer);
    });
    if (open.size <= connectionsMax) return;
    // The new one is the last of them, and there is always that.
    for (const longest of idle.values()) {
      longest.destroy();
      break;
    }
  });

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const peer = peerOf(socket);
    const connection = idle.get(peer);
    idle.delete(peer);
    response.once('close', () => {
      if (connection !== undefined && open.has(connection)) idle.set(peer, connection);
    });
  });
}

const peerOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string =>
  `${remoteAddress} ${remotePort}`;
