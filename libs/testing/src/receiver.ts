/** A real HTTP or HTTPS server that receives webhooks or callbacks. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** As received, because the signature is over the bytes. */
  text: string;
  body: { token: string; type: string; status: string };
}

/** A status code, no answer, or an answer that the test writes itself. */
type Reaction = number | 'hang' | ((response: ServerResponse) => void);

export interface Receiver {
  url: string;
  received: Received[];
  /** @default 200 */
  react(reaction: (received: Received, index: number) => Reaction): void;
  /** Requests without an answer yet, and the maximum so far. */
  waiting(): { now: number; most: number };
  close(): Promise<void>;
}

export async function startReceiver(tls?: { key: string; cert: string }): Promise<Receiver> {
  const received: Received[] = [];
  let reaction: (received: Received, index: number) => Reaction = () => 200;
  const waiting = { now: 0, most: 0 };
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    waiting.now += 1;
    waiting.most = Math.max(waiting.most, waiting.now);
    response.on('close', () => (waiting.now -= 1));
    const { method = '', url: path = '', headers } = request;
    const text = await textOf(request);
    const one: Received = { method, path, headers, text, body: JSON.parse(text) as Received['body'] };
    const answer = reaction(one, received.push(one) - 1);
    if (typeof answer === 'number') response.writeHead(answer).end();
    else if (answer !== 'hang') answer(response);
  };
  server.on('request', (request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: tls === undefined ? `http://127.0.0.1:${port}/hook` : `https://localhost:${port}/hook`,
    received,
    react: (next) => {
      reaction = next;
    },
    waiting: () => ({ ...waiting }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
