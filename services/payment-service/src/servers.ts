/** The two servers: HTTPS for everything, and plain HTTP that rejects all requests (specification, section 5). */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { apiError } from '@tollgate/payment-api';
import { type ApiError } from '@tollgate/core/money';
import {
  answerInJsonOnly,
  endUnlessArrived,
  errorCode,
  followRequests,
  httpServerOptions,
  serverTls,
  type Clock,
  type Log,
} from '@tollgate/service-kit';
import {
  fastify,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { send } from './api-calls.ts';
import { refusal } from './answers.ts';
import type { ServerCertificate } from './certificates.ts';
import type { Authenticate } from './keys.ts';
import type { Merchant } from './storage/merchants-table.ts';

const bodyLimitBytes = 64 * 1024;
const handshakeTimeoutMs = 5_000;

/** An HTTPS server with JSON answers; invalid requests get the error body of section 7, too. */
export function createHttpsServer(certificate: ServerCertificate, log: Log): FastifyInstance {
  const { http, ...options } = httpServerOptions({ bodyLimitBytes });
  const { key, cert } = certificate;
  const app = fastify({
    ...options,
    https: { ...http, ...serverTls, key, cert, handshakeTimeout: handshakeTimeoutMs },
    frameworkErrors: (_error: FastifyError, _request: FastifyRequest, reply: FastifyReply) =>
      void send(reply, refusal(unreadable())),
    clientErrorHandler: (error, socket) =>
      endUnlessArrived(error, socket, () => {
        const statusCode = statusOf(errorCode(error) ?? '');
        if (statusCode === undefined) socket.destroy();
        else answerOnSocket(socket, statusCode, unreadable());
      }),
  });
  followRequests(app.server);
  answerInJsonOnly(app, log);
  return app;
}

/** A server that rejects every request. */
export function createPlainHttpServer(): FastifyInstance {
  const app = fastify({
    ...httpServerOptions({ bodyLimitBytes }),
    frameworkErrors: (_error, _request, reply) => void send(reply, refusal(httpsRequired())),
    clientErrorHandler: (_error, socket) =>
      answerOnSocket(socket, refusal(httpsRequired()).statusCode, httpsRequired()),
  });
  app.addHook('onRequest', async (_request, reply) =>
    send(reply.header('connection', 'close'), refusal(httpsRequired())),
  );
  app.setNotFoundHandler((_request, reply) => send(reply, refusal(httpsRequired())));
  return app;
}

/**
 * Registers routes that need a merchant's key. The key is checked before the body is read, so that unauthenticated
 * bodies cost nothing.
 */
export function registerBehindKey(
  app: FastifyInstance,
  authenticate: Authenticate,
  register: (scope: FastifyInstance, merchantOf: (request: FastifyRequest) => Merchant) => void,
): void {
  const merchants = new WeakMap<FastifyRequest, Merchant>();
  const merchantOf = (request: FastifyRequest): Merchant => {
    const merchant = merchants.get(request);
    if (merchant === undefined) throw new Error('The route is not behind the key check.');
    return merchant;
  };
  void app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      const result = authenticate(request.headers.authorization);
      if ('refused' in result)
        return send(reply.header('www-authenticate', 'Bearer'), refusal(result.refused));
      merchants.set(request, result.merchant);
      return undefined;
    });
    register(scope, merchantOf);
  });
}

const httpsRequired = (): ApiError =>
  apiError('https_required', 'Use HTTPS: requests over plain HTTP are rejected.', 'scheme');

const unreadable = (): ApiError =>
  apiError('invalid_param', 'The request cannot be read as HTTP.', 'request');

/**
 * Undefined for a connection error or a time-out: a client that sends its next request meanwhile would take the answer
 * for that of the request.
 */
function statusOf(socketError: string): number | undefined {
  if (socketError === 'HPE_HEADER_OVERFLOW') return 431;
  return socketError.startsWith('HPE_') ? 400 : undefined;
}

/** Answers when there is no request to reply to: the input was not HTTP, too large or too slow. */
function answerOnSocket(socket: Socket, statusCode: number, error: ApiError): void {
  if (!socket.writable || socket.destroyed) return void socket.destroy();
  const body = JSON.stringify({ success: false, errors: [error] });
  const head = `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`;
  const headers = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\n${headers}\r\nConnection: close\r\n\r\n${body}`);
}

/** Time for requests in progress when the service stops. @unit milliseconds */
const drainMs = 5_000;

/** Rejects new connections, waits for requests in progress, and aborts them after five seconds. */
export async function drain(servers: readonly FastifyInstance[], clock: Pick<Clock, 'sleep'>): Promise<void> {
  const isClosed = new AbortController();
  const closeAllNow = () => {
    for (const { server } of servers) server.closeAllConnections();
  };
  clock.sleep(drainMs, isClosed.signal).then(closeAllNow, () => undefined);
  await Promise.all(servers.map((app) => app.close()));
  isClosed.abort();
}
