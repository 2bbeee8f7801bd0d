/** Stands between gateways and the Payment Service, and holds bytes back or cuts connections, in both directions. */
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface HoldingRelay {
  port: number;
  /** Nothing gets through until {@link HoldingRelay.letGo}; what was sent meanwhile arrives then. */
  hold(): void;
  letGo(): void;
  /** Breaks every connection, with whatever is under way on it. */
  cut(): void;
  close(): void;
}

/** @param to where everything is passed on to */
export async function openHoldingRelay(to: { host: string; port: number }): Promise<HoldingRelay> {
  const sockets = new Set<Socket>();
  let isHeld = false;

  function join(one: Socket, other: Socket): void {
    sockets.add(one);
    one.pipe(other);
    if (isHeld) one.pause();
    // An end of either side, whatever its reason, is the end of both.
    one.on('error', () => undefined);
    one.once('close', () => {
      sockets.delete(one);
      other.destroy();
    });
  }

  const server = createServer((client) => {
    const upstream = connect(to);
    join(client, upstream);
    join(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    letGo: () => {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
}
