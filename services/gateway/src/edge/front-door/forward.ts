/** Hands requests of the API on to the service that answers them, and its answers back, as they are. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { fastifyReplyFrom } from '@fastify/reply-from';
import type { Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '@tollgate/gateway-api/http';
import { answerForUpstream } from './upstream-failure.ts';
import { notesOf, requestNotesHeader, takeNotes } from '../requests/request-notes.ts';
import { endToEndHeaders, isBodyless, requestHeaders } from './end-to-end-headers.ts';
import type { InternalCredential } from '../internal-credential.ts';
import type { Upstreams } from './upstreams.ts';

export interface ForwardOptions {
  routes: readonly Pick<Route, 'method' | 'url'>[];
  upstreams: Upstreams;
  credential: Pick<InternalCredential, 'sign'>;
  log: Log;
}

/**
 * Adds the routes to its own scope. Keys, scopes and rates are the service's business: it gets every header that is
 * not of the connection, and answers for them.
 */
export async function registerForwarding(app: FastifyInstance, options: ForwardOptions): Promise<void> {
  const { routes, upstreams, log } = options;
  await app.register(async (scope) => {
    // Read whole, within the limit of a body, and handed on byte for byte: it is not ours to understand.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    const brokenOff = new WeakSet<Error>();
    scope.setErrorHandler((error: Error, _request, reply) => {
      if (!brokenOff.has(error)) throw error;
      answerForUpstream(reply, error, log);
    });
    await scope.register(import('@fastify/reply-from'), {
      undici: { request: toCallbacks(upstreams) },
      disableCache: true,
      disableRequestLogging: true,
    });
    for (const { method, url } of routes)
      scope.route({
        method,
        url,
        handler: (request, reply) => forward({ ...options, request, reply, url, brokenOff }),
      });
  });
}

interface Forwarded extends Pick<ForwardOptions, 'log' | 'credential'> {
  request: FastifyRequest;
  reply: FastifyReply;
  /** Of the route. */
  url: string;
  /** What an answer ended with whose status had come. Where nothing of it was handed on yet, another one still can be. */
  brokenOff: WeakSet<Error>;
}

/** The package wants some origin to build an address of; which instance it is, is decided as the request is sent. */
const anyOrigin = 'http://upstream.invalid';

function forward({ request, reply, url, credential, log, brokenOff }: Forwarded): void {
  const path = pathOf(url, request.params as Readonly<Record<string, string>>);
  if (path === undefined) return reply.callNotFound();
  reply.from(path, {
    ...bodyOf(request),
    getUpstream: () => anyOrigin,
    rewriteRequestHeaders: (_request, headers) =>
      requestHeaders(request, headers, credential.sign(request.method, path)),
    rewriteHeaders: (headers) => {
      takeNotes(notesOf(request), headers[requestNotesHeader]);
      return { ...endToEndHeaders(headers), ...(isEventStream(headers) ? { connection: 'close' } : {}) };
    },
    onResponse: (_request, _reply, { stream }: { stream: Readable }) => {
      stream.once('error', (error: Error) => brokenOff.add(error));
      reply.send(stream);
    },
    // Left to itself, the package sends a GET again that was answered 503.
    retryDelay: () => null,
    onError: (_reply, { error }) => answerForUpstream(reply, error, log),
  });
}

/** Kept by the client after the stream, its connection would hold a closing server open. */
const isEventStream = ({ 'content-type': type }: IncomingHttpHeaders): boolean =>
  String(type).startsWith('text/event-stream');

/**
 * The path rebuilt from the route and its parameters, so that the service sees the very path that was routed by,
 * however that was written. Undefined if it could be read otherwise: `..` and `/` are no part of any name of ours.
 */
function pathOf(route: string, params: Readonly<Record<string, string>>): string | undefined {
  if (Object.values(params).some((value) => /^$|^\.|\.\.|[/\\]/.test(value))) return undefined;
  return route.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** With a type, so that the package sends the bytes as they are: without one it writes them as JSON. */
function bodyOf({ method, body, headers }: FastifyRequest): { body?: Buffer; contentType?: string } {
  if (isBodyless(method) || !Buffer.isBuffer(body)) return {};
  return { body, contentType: headers['content-type'] ?? 'application/octet-stream' };
}

type ReplyFromRequest = Extract<
  NonNullable<Parameters<typeof fastifyReplyFrom>[1]['undici']>,
  { request: unknown }
>['request'];

/** The package calls back; its types are those of an older undici than ours, whose answers are the same. */
function toCallbacks(upstreams: Upstreams): ReplyFromRequest {
  const request = (
    options: Parameters<Upstreams['request']>[0],
    callback: (error: Error | null, data: unknown) => void,
  ): void => {
    upstreams.request(options).then(
      (data) => callback(null, data),
      (error: unknown) => callback(error as Error, null),
    );
  };
  return request as unknown as ReplyFromRequest;
}
