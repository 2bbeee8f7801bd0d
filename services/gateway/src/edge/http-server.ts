/** Creates the HTTP servers of a process. */
import {
  type ListenAddress,
  type Log,
  answerInJsonOnly,
  endConnectionsOnClose,
  endUnreadAnswers,
  httpServerOptions,
  isLoopbackAddress,
  limitConnections,
  listen,
  serverTls,
} from '@tollgate/service-kit';
import Fastify, { type FastifyInstance } from 'fastify';
import type { GatewayConfig } from '../configuration/config.ts';
import { compressAnswers } from './compress-answers.ts';
import { protectAnswers } from './protect-answers.ts';
import { type TraceOptions, traceRequests } from './requests/trace-requests.ts';
import { answerUnheeded, answersToUnreadable } from './requests/unreadable.ts';
import type { TlsMaterial } from '../configuration/tls.ts';

export interface ServerOptions extends TraceOptions {
  connections: GatewayConfig['connections'];
  bodyLimitBytes: number;
  /** HTTP without it. */
  https?: TlsMaterial | undefined;
  /** Proxies whose forwarded addresses are trusted; none by default. */
  trustedProxies?: readonly string[] | undefined;
  /** Makes the ids of requests. */
  newRequestId: () => string;
}

/** Like the other limits of a connection: a stalled client is disconnected. */
const handshakeTimeoutMs = 5_000;
/** A client that does not read its answer for this long is disconnected. */
const unreadMs = 30_000;

export function createServer(options: ServerOptions): FastifyInstance {
  const { connections, bodyLimitBytes, log } = options;
  const limits = httpServerOptions({ bodyLimitBytes, idleMs: connections.idleMs });
  const app = create({ ...limits, ...answersToUnreadable(options) }, options);
  answerUnheeded(app, options);
  limitConnections(app.server, connections.connectionsMax);
  endUnreadAnswers(app.server, unreadMs);
  protectAnswers(app, { isHttps: options.https !== undefined });
  traceRequests(app, options);
  compressAnswers(app);
  answerInJsonOnly(app, log);
  endConnectionsOnClose(app);
  return app;
}

function create(
  limits: ReturnType<typeof httpServerOptions> & ReturnType<typeof answersToUnreadable>,
  { https, trustedProxies, newRequestId: genReqId }: ServerOptions,
): FastifyInstance {
  const trustProxy = trustedProxies === undefined ? false : [...trustedProxies];
  if (https === undefined) return Fastify({ ...limits, trustProxy, genReqId });
  // The server behind HTTPS has the limits of plain connections as well.
  const { http, ...others } = limits;
  return Fastify({
    ...others,
    trustProxy,
    genReqId,
    https: { ...http, ...serverTls, handshakeTimeout: handshakeTimeoutMs, ...https },
  });
}

/** @returns the server's URL */
export async function listenAt(
  app: FastifyInstance,
  address: ListenAddress,
  log: Log,
  scheme: 'http' | 'https' = 'http',
): Promise<string> {
  const port = await listen(app, address);
  const url = toUrl(address.host, port, scheme);
  if (scheme === 'http' && !isLoopbackAddress(address.host))
    log.warn({ url }, 'the API uses plain HTTP beyond this machine; put a proxy with TLS in front');
  return url;
}

const toUrl = (host: string, port: number, scheme: string): string =>
  `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
