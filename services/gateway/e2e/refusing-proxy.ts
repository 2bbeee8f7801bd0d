/** A proxy to a server on this machine that can be closed and reopened. */
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface RefusingProxy {
  port: number;
  /** Blocks new connections and cuts open ones. */
  refuse(): void;
  letThrough(): void;
  close(): Promise<void>;
}

export async function startRefusingProxy(targetPort: number): Promise<RefusingProxy> {
  const sockets = new Set<Socket>();
  let isRefusing = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Disconnecting peers are expected here.
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((socket) => {
    keep(socket);
    // Resets before the handshake instead of closing the port, which another test might get.
    if (isRefusing) {
      socket.resetAndDestroy();
      return;
    }
    const target = connect(targetPort, '127.0.0.1');
    keep(target);
    socket.pipe(target).pipe(socket);
  });
  const cutOff = () => sockets.forEach((socket) => socket.resetAndDestroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    refuse() {
      isRefusing = true;
      cutOff();
    },
    letThrough: () => (isRefusing = false),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cutOff();
      await closed;
    },
  };
}
