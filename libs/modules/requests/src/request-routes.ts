/** Routes of the stored requests of a team. */
import { type PublicRequest, toIso } from '@tollgate/gateway-api';
import {
  routes,
  sendError,
  type ReadRouteDependencies,
  addReadRoute,
  parameterOf,
  sendRefusedPage,
} from '@tollgate/gateway-api/http';
import { omitUndefined, instantOfRequestId, isRequestId, requestIdFrom, dayMs } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import type { RequestLedger } from './request-ledger.ts';
import type { RequestRecord } from './request-record.ts';

export function registerRequestRoutes(
  app: FastifyInstance,
  deps: ReadRouteDependencies & { instance: string },
  ledger: Pick<RequestLedger, 'find' | 'list'>,
): void {
  addReadRoute(app, deps, routes.listRequests, async ({ caller, query, reply }) => {
    const { perPage, cursor, dateFrom, dateTo, ...filter } = query;
    if (cursor !== undefined && !isRequestId(cursor)) return sendRefusedPage(reply, 'cursor');
    const from = dateFrom === undefined ? undefined : requestIdFrom(dateFrom);
    const end = dateTo === undefined ? undefined : requestIdFrom(dateTo + dayMs);
    const before = [cursor, end].filter((each) => each !== undefined).toSorted()[0];
    const { records, next: nextCursor } = ledger.list(caller, { ...filter, perPage, from, before });
    const requests = records.map((record) => toPublicRequest(record));
    return reply.send({ success: true, requests, perPage, ...omitUndefined({ nextCursor }) });
  });

  addReadRoute(app, deps, routes.retrieveRequest, async ({ caller, request, reply }) => {
    const found = ledger.find(caller, parameterOf(request, 'id'));
    if (found === undefined)
      return sendError(reply, 'request_not_found', {
        message: `No request of your team with this id is stored on the gateway ${deps.instance}. Check the id and the environment of the API key. A request made a moment ago may appear after a second.`,
      });
    return reply.send({ success: true, request: toPublicRequest(found) });
  });
}

export function toPublicRequest({
  caller,
  ...record
}: RequestRecord): Omit<PublicRequest, 'environment' | 'keyId'> {
  const { id, durationMs, providerMs } = record;
  const at = toIso(instantOfRequestId(id));
  // Several calls of one request may have been concurrent.
  const ownMs = Math.max(0, round(durationMs - providerMs));
  return {
    ...record,
    at,
    ownMs,
    ...omitUndefined({ environment: caller?.environment, keyId: caller?.keyId }),
  };
}

const round = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
