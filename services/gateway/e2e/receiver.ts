/** A team's server for webhooks. */
import { type IncomingHttpHeaders, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  headers: IncomingHttpHeaders;
  /** As it was sent, for its signature. */
  text: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** The status of its answers. @default 200 */
  statusOf(path: string): number;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      receiver.received.push({ headers: request.headers, text: sent });
      response.writeHead(receiver.statusOf(request.url ?? '')).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tollgate`,
    received: [],
    statusOf: () => 200,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
}
