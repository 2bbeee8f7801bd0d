/** Forwards requests of the API to their service, and its answers back, unchanged. */
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

/** Adds the routes to its own scope. Keys, scopes and rates are checked by the service, which gets every end-to-end header. */
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
  /** The failure of an answer after its status. If nothing was forwarded yet, another answer is still possible. */
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
      return endToEndHeaders(headers);
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

/**
 * The path rebuilt from the route and its parameters, so that the service parses it as it was routed, however it was written.
 * Undefined
 * if ambiguous: our names contain neither `..` nor `/`.
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

/** The package has a callback API; its types are those of an older undici than ours, with the same answers. */
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
