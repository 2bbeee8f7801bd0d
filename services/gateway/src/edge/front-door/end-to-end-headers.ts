/** Which headers of a request and of an answer go through (RFC 9110, section 7.6.1), and who is named as the client. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { requestNotesHeader } from '../requests/request-notes.ts';
import { internalCredentialHeader, requestIdHeader } from '../internal-credential.ts';

/** About one connection, and so not about the next. */
const hopByHop: readonly string[] = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'expect'],
];

/** What anybody may claim about where a request comes from. The host is that of the instance. */
const replaced: readonly string[] = [
  ...['host', 'forwarded', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
  'x-forwarded-port',
  ...[internalCredentialHeader, requestIdHeader],
];

/** Whether nobody reads a body that a request has. */
export const isBodyless = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Of such a body. */
const ofBody: readonly string[] = ['content-length', 'content-type', 'content-encoding'];

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** @param credential ours, of this request */
export function requestHeaders(
  request: FastifyRequest,
  headers: Headers,
  credential: string,
): IncomingHttpHeaders {
  const bodyless = isBodyless(request.method) ? ofBody : [];
  return {
    ...without(headers, [...hopByHop, ...replaced, ...bodyless]),
    'x-forwarded-for': forwardedFor(request),
    'x-forwarded-proto': request.protocol,
    [internalCredentialHeader]: credential,
    [requestIdHeader]: request.id,
  };
}

/** Of an answer. Also leaves out what its `Connection` names. */
export function endToEndHeaders(headers: Headers): IncomingHttpHeaders {
  const named = String(headers['connection'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return without(headers, [...hopByHop, ...named, requestNotesHeader]);
}

/**
 * The peer, after those that it tells of where it is a proxy that we trust (`TRUSTED_PROXIES`); whatever else a client
 * claims is dropped.
 */
const forwardedFor = ({ ip, ips = [ip] }: FastifyRequest): string => ips.toReversed().join(', ');

const without = (headers: Headers, names: readonly string[]): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !names.includes(name.toLowerCase()),
    ),
  );
