/** Distinguishes requests that are slow from those that a suspended process has not read yet. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

const latest = new WeakMap<Duplex, IncomingMessage>();

/** Call it before the server listens. */
export function followRequests(server: Pick<Server, 'on'>): void {
  server.on('request', (request: IncomingMessage) => latest.set(request.socket, request));
}

/**
 * Calls `end` unless the request of a `clientError` is complete once everything that has arrived is read. Node
 * measures the time of requests before it reads: a suspended process would refuse requests that arrived meanwhile.
 */
export function endUnlessArrived(error: NodeJS.ErrnoException, socket: Duplex, end: () => void): void {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return end();
  const known = latest.get(socket);
  const wasWhole = known?.complete === true;
  setImmediate(() => {
    const request = latest.get(socket);
    const hasArrived = request?.complete === true && !(wasWhole && request === known);
    if (!hasArrived) end();
  });
}
