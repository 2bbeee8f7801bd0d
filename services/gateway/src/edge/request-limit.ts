/** Limits requests per second, by key or by address. */
import { fastifyRateLimit } from '@fastify/rate-limit';
import { authenticationOf, noteCaller, sendError } from '@tollgate/gateway-api/http';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import { type Clock, InvariantViolation } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestCountsOn } from './request-counts.ts';

const windowMs = 1_000;

/** Without an active key, an address gets this part of what a key gets. */
const strangersShare = 0.1;

/** Its id; undefined if there is none, or none that counts. */
export type SessionOf = (request: Pick<FastifyRequest, 'headers'>) => string | undefined;

export interface RequestLimitOptions {
  directory: Pick<TeamDirectory, 'authenticate'>;
  clock: Clock;
  /** The session of the console that a request comes with; absent if there is no console. */
  sessionOf?: SessionOf | undefined;
  /** Of a key without its own limit. */
  requestsPerSecondMax: number;
  /** Keys, and addresses, that are counted at the same time at most; 10,000 unless set. */
  requestersMax?: number;
}

/**
 * Limits all routes of `api`, before they read anything: 429 `rate_limit_exceeded` with `Retry-After`.
 *
 * Keys and addresses are counted apart. A key counts wherever its requests come from, and an address only where none of
 * ours comes with the request; so a flood of made-up keys, behind the same proxy too, takes nothing from those who have
 * one, and nothing from those who are signed in to the console: a session is counted like a key. It follows that this slows down a guesser's answers but not his luck, which is what a secret's length is for.
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
 * An `api_error`, as the Payment Service's own 429: clients repeat it later. Of an `invalid_request_error` they would
 * believe that it can never succeed, and give up a sale.
 */
function refuse(
  reply: FastifyReply,
  whose: string,
  { max, ttlInSeconds }: { max: number; ttlInSeconds: number },
): FastifyReply {
  const message = `More than ${max} requests ${whose} arrived within a second. This one was not executed. Retry later.`;
  return sendError(reply, 'rate_limit_exceeded', { message, retryAfterSeconds: ttlInSeconds });
}
