/** Receives the service's callbacks on a port of its own. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isObject, type Json } from './answers.ts';
import { parseJson } from './http.ts';

export interface Callback {
  method: string;
  /** Path and query. */
  path: string;
  contentType: string;
  text: string;
  /** The parsed body; empty if it is not a JSON object. */
  body: Json;
}

export type CallbackReceiver = Awaited<ReturnType<typeof startCallbackReceiver>>;

const pathOf = (name: string): string => `/callbacks/${name}?order=${name}`;
const nameIn = (path: string): string => /^\/callbacks\/([^/?]+)/.exec(path)?.[1] ?? '';

/** @param publicHost the name of this machine for the service; unless it is loopback, all addresses are listened on */
export async function startCallbackReceiver(publicHost: string) {
  const received = new Map<string, Callback[]>();
  const answers = new Map<string, number[]>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const callback = await read(request);
    const name = nameIn(callback.path);
    received.set(name, [...(received.get(name) ?? []), callback]);
    response.writeHead(answers.get(name)?.shift() ?? 200, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy()); // The sender went away.
  });
  server.listen(0, isLoopback(publicHost) ? publicHost : undefined);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = publicHost.includes(':') ? `[${publicHost}]` : publicHost;
  return {
    /** The URL for one payment; its query must come back unchanged. */
    addressFor: (name: string) => `http://${host}:${port}${pathOf(name)}`,
    /** Callbacks at that URL, in the order of arrival. */
    receivedFor: (name: string): readonly Callback[] => received.get(name) ?? [],
    /** Answers the next callbacks to that address with these HTTP statuses, and 200 from then on. */
    answerFor: (name: string, statusCodes: readonly number[]) => void answers.set(name, [...statusCodes]),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const isLoopback = (host: string): boolean => /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host);

async function read(request: IncomingMessage): Promise<Callback> {
  const sent = await text(request);
  const body = parseJson(sent);
  const { method = '', url = '', headers } = request;
  return {
    method,
    path: url,
    contentType: headers['content-type'] ?? '',
    text: sent,
    body: isObject(body) ? body : {},
  };
}
