/** Answers to what the router, or the parser of HTTP, cannot read: no hook of ours sees these. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { explained } from '@tollgate/gateway-api/http';
import { unreadablePath } from '@tollgate/service-kit';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

export const answersToUnreadable = (newRequestId: () => string) => ({
  frameworkErrors(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
    const body = explained({ success: false, errors: [unreadablePath] }, request.id);
    void reply
      .header('request-id', request.id)
      .code(error.statusCode ?? 400)
      .send(body);
  },
  clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code !== 'ECONNRESET' && socket.writable) socket.write(toUnreadable(error, newRequestId()));
    socket.destroy(error);
  },
});

const statusByCode: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

function toUnreadable({ code }: NodeJS.ErrnoException, requestId: string): string {
  const status = statusByCode[code ?? ''] ?? 400;
  const message = 'The request cannot be read: it is no HTTP, too slow, or its header is too long.';
  const error = { code: 'invalid_request', kind: 'invalid_request_error', message };
  const body = JSON.stringify(explained({ success: false, errors: [error] }, requestId));
  const headers = [
    ...['Connection: close', 'Content-Type: application/json; charset=utf-8'],
    ...[`Content-Length: ${Buffer.byteLength(body)}`, `Request-Id: ${requestId}`],
  ];
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}
