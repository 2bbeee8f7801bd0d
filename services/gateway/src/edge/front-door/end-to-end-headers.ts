/** Headers of a request and of an answer to forward (RFC 9110, section 7.6.1), and the client's address. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { requestNotesHeader } from '../requests/request-notes.ts';
import { internalCredentialHeader, requestIdHeader } from '../internal-credential.ts';

/** About one connection, and so not about the next. */
const hopByHop: readonly string[] = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'expect'],
];

/** Unverified claims about the origin of a request. The host is that of the instance. */
const replaced: readonly string[] = [
  ...['host', 'forwarded', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
  'x-forwarded-port',
  ...[internalCredentialHeader, requestIdHeader],
];

/** True if the body of a request is ignored. */
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

/** Of an answer. Also removes the headers listed in `Connection`. */
export function endToEndHeaders(headers: Headers): IncomingHttpHeaders {
  const named = String(headers['connection'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return without(headers, [...hopByHop, ...named, requestNotesHeader]);
}

/**
 * The peer, after the addresses that it forwards if it is a trusted proxy (`TRUSTED_PROXIES`); other claims of a client are
 * dropped.
 */
const forwardedFor = ({ ip, ips = [ip] }: FastifyRequest): string => ips.toReversed().join(', ');

const without = (headers: Headers, names: readonly string[]): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !names.includes(name.toLowerCase()),
    ),
  );
