/** Forwards requests of the API to their service, and its answers back, unchanged. */
import type { Readable } from 'node:stream';
import { type Route, sendError } from '@tollgate/gateway-api/http';
import type { Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notesOf, requestNotesHeader, takeNotes } from '../requests/request-notes.ts';
import { endToEndHeaders, isBodyless, requestHeaders } from './end-to-end-headers.ts';
import type { InternalCredential } from '../internal-credential.ts';
import { type Upstreams, isNotSent } from './upstreams.ts';

export interface ForwardOptions {
  routes: readonly Pick<Route, 'method' | 'url'>[];
  upstreams: Upstreams;
  credential: Pick<InternalCredential, 'sign'>;
  log: Log;
}

/** Adds the routes to its own scope. Keys, scopes and rates are checked by the service, which gets every end-to-end header. */
export async function registerForwarding(app: FastifyInstance, options: ForwardOptions): Promise<void> {
  const { routes, upstreams, credential, log } = options;
  await app.register(async (scope) => {
    // Read whole, within the limit of a body, and handed on byte for byte: it is not ours to understand.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    // Failures of an answer after its status. If nothing was forwarded yet, another answer is still possible.
    const brokenOff = new WeakSet<Error>();
    scope.setErrorHandler((error: Error, _request, reply) => {
      if (!brokenOff.has(error)) throw error;
      return answerForUpstream(reply, error, log);
    });
    for (const { method, url } of routes)
      scope.route({ method, url, handler: (request, reply) => forward(request, reply, url) });

    async function forward(request: FastifyRequest, reply: FastifyReply, url: string): Promise<FastifyReply> {
      const path = pathOf(url, request.params as Readonly<Record<string, string>>);
      if (path === undefined) {
        reply.callNotFound();
        return reply;
      }
      const { method } = request;
      const search = /\?[^#]*/.exec(request.url)?.[0] ?? '';
      const headers = requestHeaders(request, credential.sign(method, path));
      const sent = { method: method as 'GET', path: `${path}${search}`, headers, body: bodyOf(request) };
      const answer = await upstreams.request(sent).catch((error: unknown) => error as Error);
      if (answer instanceof Error) return answerForUpstream(reply, answer, log);
      takeNotes(notesOf(request), answer.headers[requestNotesHeader]);
      reply.code(answer.statusCode).headers(endToEndHeaders(answer.headers));
      // A connection kept alive by the client would hold a closing server open.
      if (String(answer.headers['content-type']).startsWith('text/event-stream'))
        reply.header('connection', 'close');
      const body: Readable = answer.body;
      body.once('error', (error: Error) => brokenOff.add(error));
      return reply.send(body);
    }
  });
}

/** 503 in both cases: to repeat is right in both, as the gateway carries nothing out twice. */
function answerForUpstream(reply: FastifyReply, error: Error, log: Log): FastifyReply {
  const { method, routeOptions } = reply.request;
  log.warn({ error, method, route: routeOptions.url ?? '' }, 'a service did not answer');
  // Headers of the failed answer do not describe this one.
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  return sendError(reply, isNotSent(error) ? 'service_unavailable' : 'answer_lost');
}

/**
 * The path rebuilt from the route and its parameters, so that the service parses it as it was routed, however it was written.
 * Undefined if ambiguous: our names contain neither `..` nor `/`.
 */
function pathOf(route: string, params: Readonly<Record<string, string>>): string | undefined {
  if (Object.values(params).some((value) => /^$|^\.|\.\.|[/\\]/.test(value))) return undefined;
  return route.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
}

const bodyOf = ({ method, body }: FastifyRequest): Buffer | null =>
  isBodyless(method) || !Buffer.isBuffer(body) ? null : body;
