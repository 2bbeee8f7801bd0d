/** A real HTTPS server for tests, with its own certificates. */
import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { generate } from 'selfsigned';

const dayMs = 24 * 60 * 60 * 1000;
const keyOptions = { keyType: 'ec', algorithm: 'sha256' } as const;

export interface Certificate {
  key: string;
  cert: string;
}

export async function createAuthority(name: string): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...keyOptions,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { key: made.private, cert: made.cert };
}

/** A server certificate, signed by `authority` or self-signed; for `localhost` it covers 127.0.0.1 too. */
export async function issue(
  authority: Certificate | 'itself',
  options: { host?: string; expired?: boolean } = {},
): Promise<Certificate> {
  const { host = 'localhost', expired = false } = options;
  const loopback = host === 'localhost' ? [{ type: 7 as const, ip: '127.0.0.1' }] : [];
  const made = await generate([{ name: 'commonName', value: host }], {
    ...keyOptions,
    ...(authority === 'itself' ? {} : { ca: authority }),
    notBeforeDate: new Date(Date.now() - 10 * dayMs),
    notAfterDate: new Date(Date.now() + (expired ? -dayMs : dayMs)),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: [{ type: 2, value: host }, ...loopback] },
    ],
  });
  return { key: made.private, cert: made.cert };
}

export interface Arrival {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Answers one request. It arrives with its body read; `tcp` is the socket below the encryption, for resets. */
export type Behavior = (context: {
  arrival: Arrival;
  request: IncomingMessage;
  response: ServerResponse;
  tcp: Socket;
}) => void;

export interface HttpsPeer {
  baseUrl: string;
  port: number;
  /** Every request whose head has arrived, in order. */
  arrivals: Arrival[];
  /** Number of TCP connections that were ever accepted. */
  connections: () => number;
  /** Behaviors of the next requests, first come first served; without one a request is answered `standard`. */
  next: (...behaviors: Behavior[]) => void;
  close: () => Promise<void>;
}

export const json =
  (statusCode: number, body: unknown): Behavior =>
  ({ response }) =>
    void response.writeHead(statusCode, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const reset: Behavior = ({ tcp }) => void tcp.resetAndDestroy();

/** Writes a text below HTTP, and closes. */
export const rawAnswer =
  (text: string): Behavior =>
  ({ request }) =>
    void request.socket.end(text);

export async function startHttpsPeer(
  certificate: Certificate,
  standard: Behavior,
  options: Pick<ServerOptions, 'maxVersion'> = {},
): Promise<HttpsPeer> {
  const arrivals: Arrival[] = [];
  const behaviors: Behavior[] = [];
  const tcpByPort = new Map<number | undefined, Socket>();
  let connectionCount = 0;

  const server: Server = createServer({ ...certificate, ...options }, (request, response) => {
    const { method = '', url = '', headers } = request;
    const arrival: Arrival = { method, url, headers, body: '' };
    arrivals.push(arrival);
    const behave = behaviors.shift() ?? standard;
    const tcp = tcpByPort.get(request.socket.remotePort);
    void text(request).then(
      (body) => {
        arrival.body = body;
        if (tcp !== undefined) behave({ arrival, request, response, tcp });
      },
      () => {}, // The client went away while it was sending.
    );
  });
  server.on('connection', (tcp: Socket) => {
    connectionCount += 1;
    tcpByPort.set(tcp.remotePort, tcp);
    tcp.on('error', () => {}); // Resets are what the tests are about.
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `https://localhost:${port}`,
    port,
    arrivals,
    connections: () => connectionCount,
    next: (...added) => {
      behaviors.push(...added);
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const tcp of tcpByPort.values()) tcp.destroy();
      await closed;
    },
  };
}
