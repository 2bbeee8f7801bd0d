/** Registers a route as stated: its address, scopes and query, and its answer while the store is unavailable. */
import {
  InvariantViolation,
  errorCode,
  omitUndefined,
  isRetryable,
  sendErrors,
  toErrorEntries,
  type Log,
} from '@tollgate/service-kit';
import { type Caller, type Reach, type SecurityWatch, formatGrants } from '@tollgate/teams';
import { environmentSchema } from '@tollgate/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Access, authenticate, reachOfCaller, refuseScope } from './authenticate.ts';
import { sendError } from './error-answers.ts';
import type { ErrorCode } from './errors.ts';
import { keptText } from './kept-text.ts';
import type { Route } from './routes.ts';

export interface RouteKit {
  directory: Access;
  log: Log;
  /** Resolves when a person's command is recorded. */
  recordCommand?: SecurityWatch['recordCommand'];
}

export interface Call<Stated extends Route = Route> {
  caller: Caller;
  /** The caller's reach with the scope of a route across teams; nothing on the routes of a team. */
  reach: Reach;
  /** The parsed query parameters; undefined for a route without any. */
  query: Stated extends { query: infer Schema extends z.ZodType } ? z.infer<Schema> : undefined;
  request: FastifyRequest;
  reply: FastifyReply;
}

export function addRoute<Stated extends Route>(
  app: FastifyInstance,
  kit: RouteKit,
  route: Stated,
  handle: (call: Call<Stated>) => Promise<unknown>,
): void {
  const { directory, log } = kit;
  const { method, url, scopes = [], bound } = route;
  const callers = new WeakMap<FastifyRequest, Caller>();
  const unbounded = new WeakSet<FastifyRequest>();
  app.route({
    method,
    url,
    // Before the body is read: a stranger's body costs nothing.
    onRequest: async (request, reply) => {
      const caller = await authenticate(directory, request, reply, route);
      if (caller === undefined) return reply;
      callers.set(request, caller);
      return undefined;
    },
    handler: async (request, reply) => {
      const caller = callers.get(request);
      if (caller === undefined)
        throw new InvariantViolation('a request reached its handler without authentication');
      const query = route.query?.safeParse(request.query);
      if (query?.success === false) {
        const known = Object.keys(route.query?.shape ?? {});
        return sendErrors(reply, 400, toErrorEntries(query.error, codeIn(route), known));
      }
      const reach = reachOfCaller(caller, scopes);
      if (!isNamedTeamInReach(kit, { caller, reach, request, reply }, bound)) return reply;
      if (bound === 'teams') unbounded.add(request);
      const call = {
        caller,
        query: query?.data,
        request,
        reply,
        get reach() {
          unbounded.delete(request);
          return reach;
        },
      } as Call<Stated>;
      // A reply is a thenable without a value, so the result of `handle` does not show whether it was sent.
      await recordCommand(kit, call, route)
        .then(() => handle(call))
        .catch((error: unknown) => answerUnavailable(error, { route, reply, log }));
      return reply;
    },
    // A handler that never used the reach of its caller must not answer.
    onSend: async (request, reply) => {
      if (reply.statusCode < 400 && unbounded.has(request))
        throw new InvariantViolation(`${method} ${url} answers without the reach of its caller`);
    },
  });
}

/** Of a route that is bounded by the team in its address or its body. Without an environment, it concerns both. */
function isNamedTeamInReach(
  { directory }: RouteKit,
  { caller, reach, request, reply }: Pick<Call, 'caller' | 'reach' | 'request' | 'reply'>,
  bound: Route['bound'],
): boolean {
  if (bound !== 'named-team' || reach.isEverywhere) return true;
  const { team, environment } = namesIn(request);
  if (typeof team !== 'string' || !reach.includesTeam(team)) {
    sendError(reply, 'team_not_found');
    return false;
  }
  const known = environmentSchema.safeParse(environment).data;
  const environments = known === undefined ? environmentSchema.options : [known];
  const missing = environments.find((each) => !reach.includes({ team, environment: each }));
  if (missing === undefined) return true;
  const message = `Your role does not cover ${missing} of ${team}. Ask a person whose role covers it.`;
  refuseScope(directory, { caller, request, reply, message });
  return false;
}

/** Names in the URL and the body; the URL wins. */
const namesIn = ({ body, params }: FastifyRequest): Readonly<Record<string, unknown>> => ({
  ...(body as object | null),
  ...(params as object),
});

const namesOfObjects = [
  ...['token', 'environment', 'account', 'id', 'webhook'],
  ...['name', 'team', 'keyId', 'person', 'credentialId'],
];

/**
 * A person's command, before it is executed and before its body is validated: only names of its object, and nothing typed by a
 * customer.
 */
async function recordCommand(
  { recordCommand: record }: RouteKit,
  { caller: { team, environment, operator, credential }, request }: Pick<Call, 'caller' | 'request'>,
  { method, url }: Route,
): Promise<void> {
  if (operator === undefined || method === 'GET') return;
  const { person: name, source, grants } = operator;
  const named = namesIn(request);
  const texts = namesOfObjects.flatMap((key) => {
    const value = named[key];
    return typeof value === 'string' ? [[key, keptText(value)] as const] : [];
  });
  const amount = typeof named['amount'] === 'number' ? named['amount'] : undefined;
  const within = team === '' ? {} : { team, environment };
  const about = { ...Object.fromEntries(texts), ...omitUndefined({ amount }) };
  const shown = omitUndefined({ usedCredentialId: credential?.id });
  const detail = { ...about, ...within, ...shown, role: formatGrants(grants), address: request.ip };
  await record?.({ person: { kind: 'person', name, source }, command: `${method} ${url}`, detail });
}

/** The code for an invalid parameter: its own, if the route declares one. */
const codeIn =
  ({ errors = [] }: Pick<Route, 'errors'>) =>
  (parameter: string): ErrorCode =>
    errors.find((code) => code === `incorrect_${parameter}`) ?? 'invalid_param';

/** Enough for a short rebuild of the index; a long one takes minutes. */
const whileRebuildingSeconds = 5;
const afterFailedWriteSeconds = 5;

/** Answers 503 for retryable errors; throws any other error. */
function answerUnavailable(
  error: unknown,
  { route, reply, log }: { route: Route; reply: FastifyReply; log: Log },
): void {
  if (!isRetryable(error)) throw error;
  const { method, url } = route;
  log.warn({ error, method, route: url }, 'the request cannot be served now; the caller is asked to retry');
  const code = errorCode(error);
  if (code === 'event_of_newer_version' || code === 'upgrade_not_finished') {
    sendError(reply, code);
    return;
  }
  if (code === 'index_rebuilding') {
    const message = 'The index is being rebuilt, so results would be incomplete. Retry later.';
    sendError(reply, 'read_model_behind', { message, retryAfterSeconds: whileRebuildingSeconds });
    return;
  }
  // Nothing was acknowledged, and a repeated command is not carried out twice.
  sendError(
    reply,
    'store_unavailable',
    route.isCommand === true ? { retryAfterSeconds: afterFailedWriteSeconds } : {},
  );
}
