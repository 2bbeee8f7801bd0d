/** Limits requests per second, by key or by address. */
import { fastifyRateLimit } from '@fastify/rate-limit';
import { authenticationOf, noteCaller, sendError } from '@tollgate/gateway-api/http';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import { type Clock, InvariantViolation } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestCountsOn } from './request-counts.ts';

const windowMs = 1_000;

/** Without an active key, an address gets this part of a key's limit. */
const strangersShare = 0.1;

/** Its id; undefined without an active one. */
export type SessionOf = (request: Pick<FastifyRequest, 'headers'>) => string | undefined;

export interface RequestLimitOptions {
  directory: Pick<TeamDirectory, 'authenticate'>;
  clock: Clock;
  /** The console session of a request; absent if there is no console. */
  sessionOf?: SessionOf | undefined;
  /** Of a key without its own limit. */
  requestsPerSecondMax: number;
  /** Maximum keys, and maximum addresses, counted at the same time. @default 10,000 */
  requestersMax?: number;
}

/**
 * Limits all routes of `api`, before they read anything: 429 `rate_limit_exceeded` with `Retry-After`.
 *
 * Keys and addresses count separately. A key counts from any address, and an address only for requests without an active key;
 * so a flood
 * of made-up keys, even behind the same proxy, does not affect callers with a key, or people signed in to the console: a
 * session counts
 * like a key. It slows a guesser's answers, but guessing is prevented by the length of the secrets.
 */
export async function limitRequests(api: FastifyInstance, options: RequestLimitOptions): Promise<void> {
  const { directory, clock, sessionOf, requestsPerSecondMax, requestersMax = 10_000 } = options;
  const callers = new WeakMap<FastifyRequest, Caller>();
  function callerOf(request: FastifyRequest): Caller {
    const caller = callers.get(request);
    if (caller === undefined) throw new InvariantViolation('a request was counted for a key that it lacks');
    return caller;
  }
  await api.register(fastifyRateLimit, {
    global: false,
    timeWindow: windowMs,
    store: requestCountsOn(clock, requestersMax),
  });
  const countOfKey = api.createRateLimit({
    max: (request) => callerOf(request).requestsPerSecondMax ?? requestsPerSecondMax,
    // A key id is the team's own: another team may have the same.
    keyGenerator: (request) => `${callerOf(request).team} ${callerOf(request).keyId}`,
  });
  const countOfSession = api.createRateLimit({
    max: requestsPerSecondMax,
    keyGenerator: (request) => `session ${sessionOf?.(request)}`,
  });
  const countOfAddress = api.createRateLimit({
    max: Math.max(1, Math.floor(requestsPerSecondMax * strangersShare)),
  });
  api.addHook('onRequest', async (request, reply) => {
    const authentication = authenticationOf(directory, request);
    const isKnown = authentication.kind === 'caller';
    if (isKnown) {
      callers.set(request, authentication.caller);
      noteCaller(authentication.caller);
    }
    const isSignedIn = !isKnown && sessionOf?.(request) !== undefined;
    const countOfStranger = isSignedIn ? countOfSession : countOfAddress;
    const count = await (isKnown ? countOfKey : countOfStranger)(request);
    if (count.isAllowed || !count.isExceeded) return undefined;
    const whose = isKnown
      ? 'of this API key'
      : isSignedIn
        ? 'of this session'
        : 'without an active API key from this address';
    return refuse(reply, whose, count);
  });
}

/**
 * An `api_error`, like the Payment Service's own 429: clients retry it. An `invalid_request_error` would look permanent, and
 * lose a sale.
 */
function refuse(
  reply: FastifyReply,
  whose: string,
  { max, ttlInSeconds }: { max: number; ttlInSeconds: number },
): FastifyReply {
  const message = `More than ${max} requests ${whose} arrived within a second. This one was not executed. Retry later.`;
  return sendError(reply, 'rate_limit_exceeded', { message, retryAfterSeconds: ttlInSeconds });
}
