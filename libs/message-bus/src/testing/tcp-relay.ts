import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { type ClientRequest, requestReader } from './client-requests.ts';

/** A relay between a client and a broker that simulates network failures. */
export interface TcpRelay {
  address: { host: string; port: number };
  /** Lets the broker's answers vanish from now on; requests still arrive. */
  loseAnswers(): void;
  /** Lets everything through again, on new connections. */
  heal(): Promise<void>;
  /** Cuts every connection and refuses new ones, as a broker does that is not running. */
  goDown(): Promise<void>;
  /** How many connections were opened. */
  connectionCount(): number;
  /** Requests of clients since the relay was opened. */
  requests(apiKey: number): ClientRequest[];
}

/** @param broker `host:port` of the one that everything is passed on to */
export async function openRelay(broker: string): Promise<TcpRelay & { close(): Promise<void> }> {
  const [host = '', port = ''] = broker.split(':');
  const sockets = new Set<Socket>();
  const requests: ClientRequest[] = [];
  let losesAnswers = false;
  let connectionCount = 0;
  let server: Server | undefined;

  function pass(client: Socket): void {
    connectionCount += 1;
    const upstream = connect({ host, port: Number(port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // If either side closes, for any reason, both do.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    const read = requestReader((request) => requests.push(request));
    client.on('data', read);
    client.pipe(upstream);
    upstream.on('data', (chunk) => losesAnswers || client.write(chunk));
  }

  const listen = (onPort: number) =>
    new Promise<number>((resolve, reject) => {
      const started = createServer(pass);
      server = started;
      started.once('error', reject);
      started.listen({ host: '127.0.0.1', port: onPort }, () =>
        resolve((started.address() as AddressInfo).port),
      );
    });

  async function goDown(): Promise<void> {
    const stopping = server;
    server = undefined;
    const stopped = new Promise<void>((resolve) =>
      stopping === undefined ? resolve() : stopping.close(() => resolve()),
    );
    for (const socket of sockets) socket.destroy();
    await stopped;
  }

  const ownPort = await listen(0);
  return {
    address: { host: '127.0.0.1', port: ownPort },
    connectionCount: () => connectionCount,
    requests: (apiKey) => requests.filter((request) => request.apiKey === apiKey),
    loseAnswers: () => (losesAnswers = true),
    heal: async () => {
      losesAnswers = false;
      if (server === undefined) await listen(ownPort);
    },
    goDown,
    close: goDown,
  };
}
