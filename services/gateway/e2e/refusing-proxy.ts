/** A way to a server on this machine that can be closed and opened again. */
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface RefusingProxy {
  port: number;
  /** From now on no connection gets through; open ones are cut off. */
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
    // A peer that hangs up is what this is for.
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((socket) => {
    keep(socket);
    // Reset before a byte of the handshake is answered, and not by closing the port: another test might be given it.
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
