/** Limits concurrent expensive reads per key and per person. */
import {
  authenticationOf,
  type Cost,
  costOfRead,
  routes,
  sendError,
  type Route,
} from '@tollgate/gateway-api/http';
import { type UnderWay, createPlaces } from '@tollgate/service-kit';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A page of the console sends up to three at once. */
const perCallerMax = 4;
const totalMax = 64;

/** For all routes of `api`, before they read anything: 429 `too_many_reads` with `Retry-After`. */
export function limitExpensiveReads(
  api: FastifyInstance,
  directory: Pick<TeamDirectory, 'authenticate'>,
  underWay: UnderWay,
): void {
  const places = createPlaces({ perHolderMax: perCallerMax, totalMax });
  const byUrl = new Map<string | undefined, Route>(
    Object.values<Route>(routes)
      .filter(({ method }) => method === 'GET')
      .map((route) => [route.url, route]),
  );
  const costOf = ({ method, routeOptions, query }: FastifyRequest): Cost => {
    const route = method === 'GET' || method === 'HEAD' ? byUrl.get(routeOptions.url) : undefined;
    if (route === undefined) return method === 'GET' ? 'waiting' : 'cheap';
    return costOfRead(route, query as Record<string, unknown>);
  };
  api.addHook('onRequest', async (request, reply) => {
    const cost = costOf(request);
    if (cost !== 'expensive') {
      if (cost === 'cheap') whenAnswered(reply, underWay.begin());
      return undefined;
    }
    const authentication = authenticationOf(directory, request);
    // Without a valid key nothing is read.
    if (authentication.kind !== 'caller') return undefined;
    const leave = places.take(holderOf(authentication.caller));
    if (leave === undefined) return sendError(reply, 'too_many_reads');
    whenAnswered(reply, leave);
    return undefined;
  });
}

/** A key id is the team's own, and a person has one over all teams. */
const holderOf = ({ team, keyId, operator }: Caller): string =>
  operator === undefined ? `${team} ${keyId}` : keyId;

function whenAnswered({ raw }: FastifyReply, end: () => void): void {
  raw.once('finish', end).once('close', end);
}
