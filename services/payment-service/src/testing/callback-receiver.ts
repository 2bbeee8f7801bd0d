import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { CallbackBody } from '@tollgate/payment-api';
import { eventually } from '@tollgate/testing';
import { expect } from 'vitest';

/** Determines the answer to the `index`-th callback, counted from 0. */
type Reaction = (body: CallbackBody, index: number) => number | 'hang' | Promise<number>;

/** A real HTTP or HTTPS server that receives callbacks. */
export interface CallbackReceiver {
  url: string;
  received: CallbackBody[];
  /** Answers 200 by default. */
  react(reaction: Reaction): void;
  statuses(): string[];
  waitFor(count: number): Promise<CallbackBody[]>;
  close(): Promise<void>;
}

export async function startCallbackReceiver(tls?: { key: string; cert: string }): Promise<CallbackReceiver> {
  const received: CallbackBody[] = [];
  let reaction: Reaction = () => 200;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as CallbackBody;
    const answer = reaction(body, received.push(body) - 1);
    if (answer === 'hang') return;
    const statusCode = await answer;
    response.writeHead(statusCode, statusCode === 302 ? { location: '/elsewhere' } : {}).end('{}');
  };
  const listener: RequestListener = (request, response) => void take(request, response);
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/callbacks/capability-of-the-merchant`,
    received,
    react: (next) => {
      reaction = next;
    },
    statuses: () => received.map(({ status }) => status),
    waitFor: (count) =>
      eventually(() => {
        expect(received.length).toBeGreaterThanOrEqual(count);
        return received;
      }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
