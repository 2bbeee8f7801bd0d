/** Answers requests that the router or the HTTP parser cannot read: no hook of ours sees them. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES, maxHeaderSize } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, explained, statedError } from '@tollgate/gateway-api/http';
import { type Log, endUnlessArrived, followRequests, unreadablePath } from '@tollgate/service-kit';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { protectiveHeaders } from '../protect-answers.ts';

export interface UnreadableOptions {
  newRequestId: () => string;
  log: Log;
}

interface Fault {
  status: number;
  message: string;
  /** `invalid_request` if absent. */
  code?: ErrorCode;
}

const faultByCode: Readonly<Record<string, Fault>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', ...statedError('request_timeout') },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: `Path and headers are too long. Send at most ${maxHeaderSize / 1_024} KiB of them together.`,
  },
};
const noHttp: Fault = {
  status: 400,
  message: 'The request cannot be read as HTTP. Check its first line, its headers and its length.',
};
const noProxy: Fault = { status: 400, message: 'This server is not a proxy. Send requests to it directly.' };
const noSuchExpectation: Fault = {
  status: 417,
  message: 'The header Expect may only be 100-continue. Send that or omit it.',
};

/** For the options of a server. */
export const answersToUnreadable = (options: UnreadableOptions) => ({
  frameworkErrors(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
    const { id: requestId, method } = request;
    const statusCode = error.statusCode ?? 400;
    options.log.info({ requestId, method, statusCode, code: unreadablePath.code }, 'answered');
    const body = explained({ success: false, errors: [unreadablePath] }, requestId);
    void reply
      .headers({ ...protectiveHeaders, 'request-id': requestId })
      .code(statusCode)
      .send(body);
  },
  clientErrorHandler(error: NodeJS.ErrnoException, socket: Duplex): void {
    endUnlessArrived(error, socket, () => {
      if (error.code !== 'ECONNRESET') writeTo(socket, faultByCode[error.code ?? ''] ?? noHttp, options);
      socket.destroy(error);
    });
  },
});

/** Cases that Node answers without a body, or not at all. */
export function answerUnheeded(
  { server }: Pick<FastifyInstance, 'server'>,
  options: UnreadableOptions,
): void {
  followRequests(server);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    writeTo(socket, noProxy, options);
    socket.destroy();
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { headers, body } = toAnswer(noSuchExpectation, options);
    response.writeHead(noSuchExpectation.status, headers).end(body);
  });
}

function writeTo(socket: Duplex, fault: Fault, options: UnreadableOptions): void {
  if (!socket.writable) return;
  const { headers, body } = toAnswer(fault, options);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { status } = fault;
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

function toAnswer(fault: Fault, { newRequestId, log }: UnreadableOptions) {
  const { status: statusCode, message, code = 'invalid_request' } = fault;
  const requestId = newRequestId();
  log.info({ requestId, statusCode, code }, 'answered');
  const { kind, retryAfterSeconds } = statedError(code);
  const errors = [{ code, kind, message }];
  const body = JSON.stringify(explained({ success: false, errors }, requestId));
  const headers = {
    ...protectiveHeaders,
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Request-Id': requestId,
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
  };
  return { headers, body };
}
