/** Limits requests per second, by key, session or address. */
import { isIPv6 } from 'node:net';
import { authenticationOf, noteCaller, sendError } from '@tollgate/gateway-api/http';
import type { TeamDirectory } from '@tollgate/teams';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

const windowMs = 1_000;

/** Without an active key, an address gets this part of a key's limit. */
const strangersShare = 0.1;

/** Its id; undefined without an active one. */
export type SessionOf = (request: Pick<FastifyRequest, 'headers'>) => string | undefined;

export interface RequestLimitOptions {
  directory: Pick<TeamDirectory, 'authenticate'>;
  clock: Pick<Clock, 'monotonic'>;
  /** The console session of a request; absent if there is no console. */
  sessionOf?: SessionOf | undefined;
  /** Of a key without its own limit. */
  requestsPerSecondMax: number;
  /** Maximum keys, sessions and addresses, of each kind, that are counted at the same time. @default 10,000 */
  requestersMax?: number;
}

/**
 * Limits all routes of `api`, before they read anything: 429 `rate_limit_exceeded` with `Retry-After`.
 *
 * Keys, sessions and addresses count separately. A key counts from any address, and an address only for requests without an
 * active key; so a flood of made-up keys, even behind the same proxy, does not affect callers with a key, or people signed in to
 * the console. It slows a guesser's answers, but guessing is prevented by the length of the secrets.
 */
export function limitRequests(api: FastifyInstance, options: RequestLimitOptions): void {
  const { directory, clock, sessionOf, requestsPerSecondMax, requestersMax = 10_000 } = options;
  const ofKeys = createCounts(clock, requestersMax);
  const ofSessions = createCounts(clock, requestersMax);
  const ofAddresses = createCounts(clock, requestersMax);

  function countOf(request: FastifyRequest) {
    const authentication = authenticationOf(directory, request);
    if (authentication.kind === 'caller') {
      const { caller } = authentication;
      noteCaller(caller);
      // A key id is the team's own: another team may have the same.
      const current = ofKeys(`${caller.team} ${caller.keyId}`);
      return { current, max: caller.requestsPerSecondMax ?? requestsPerSecondMax, whose: 'of this API key' };
    }
    const session = sessionOf?.(request);
    if (session !== undefined)
      return { current: ofSessions(session), max: requestsPerSecondMax, whose: 'of this session' };
    return {
      current: ofAddresses(networkOf(request.ip)),
      max: Math.max(1, Math.floor(requestsPerSecondMax * strangersShare)),
      whose: 'without an active API key from this address',
    };
  }

  api.addHook('onRequest', async (request, reply) => {
    const { current, max, whose } = countOf(request);
    if (current <= max) return undefined;
    // An `api_error`, like the Payment Service's own 429: clients retry it. An `invalid_request_error` would look permanent, and
    // lose a sale.
    const message = `More than ${max} requests ${whose} arrived within a second. This one was not executed. Retry later.`;
    return sendError(reply, 'rate_limit_exceeded', { message, retryAfterSeconds: windowMs / 1_000 });
  });
}

/**
 * Counts requests in windows that begin with a requester's first request. In memory of this process: each instance has the full
 * limit, and up to twice as many may pass around the end of a window. Of too many requesters, the oldest window is dropped.
 */
function createCounts(clock: Pick<Clock, 'monotonic'>, requestersMax: number) {
  const windows = new LRUCache<string, { startedAt: number; count: number }>({ max: requestersMax });
  return (requester: string): number => {
    const now = clock.monotonic();
    // Only a new window counts as a use, so that the oldest is dropped first.
    const known = windows.peek(requester);
    if (known !== undefined && now < known.startedAt + windowMs) return (known.count += 1);
    windows.set(requester, { startedAt: now, count: 1 });
    return 1;
  };
}

/** An IPv6 client has a whole subnet of 64 bits. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = [], tail] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [...head, ...Array.from({ length: 8 - head.length - (tail?.length ?? 0) }, () => '0')];
  return groups.slice(0, 4).join(':');
}
