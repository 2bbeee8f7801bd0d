/** How many expensive reads of one key, and of one person, run at the same time. */
import { authenticationOf, isExpensiveRead, routes, sendError, type Route } from '@tollgate/gateway-api/http';
import { createPlaces } from '@tollgate/service-kit';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A page of the console sends up to three at once. */
const perCallerMax = 4;
const totalMax = 64;

/** For all routes of `api`, before they read anything: 429 `too_many_reads` with `Retry-After`. */
export function limitExpensiveReads(
  api: FastifyInstance,
  directory: Pick<TeamDirectory, 'authenticate'>,
): void {
  const places = createPlaces({ perHolderMax: perCallerMax, totalMax });
  const byUrl = new Map<string | undefined, Route>(
    Object.values<Route>(routes)
      .filter(({ method }) => method === 'GET')
      .map((route) => [route.url, route]),
  );
  const isExpensive = ({ method, routeOptions, query, headers }: FastifyRequest): boolean => {
    const route = method === 'GET' || method === 'HEAD' ? byUrl.get(routeOptions.url) : undefined;
    return (
      route !== undefined &&
      isExpensiveRead(route, { query: query as Record<string, unknown>, accept: headers.accept })
    );
  };
  api.addHook('onRequest', async (request, reply) => {
    if (!isExpensive(request)) return undefined;
    const authentication = authenticationOf(directory, request);
    // Without a valid key nothing is read.
    if (authentication.kind !== 'caller') return undefined;
    const leave = places.take(holderOf(authentication.caller));
    if (leave === undefined) return sendError(reply, 'too_many_reads');
    reply.raw.once('finish', leave).once('close', leave);
    return undefined;
  });
}

/** A key id is the team's own, and a person has one over all teams. */
const holderOf = ({ team, keyId, operator }: Caller): string =>
  operator === undefined ? `${team} ${keyId}` : keyId;
