/** Disputes: the list of the specification, lists, files, and one by its own token. */
import { isOwnedBy, isToken } from '@tollgate/core';
import { toPublicDispute, toSpecifiedDispute } from '@tollgate/gateway-api';
import {
  routes,
  sendError,
  addReadRoute,
  parameterOf,
  sendRefusedPage,
  tellPosition,
} from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import { disputeKind, readView, type DisputeView } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { linesOfList, type AddExport } from './csv-exports.ts';
import { sendTagged } from './entity-tag.ts';
import { sendList } from './list-answer.ts';
import { allOwnersIn, ofCaller, ofTeams } from './list-query.ts';
import { readInPieces } from './pieces.ts';
import { type ReadDependencies } from './reading.ts';

/** Maximum disputes in the specification's list. */
const newestMax = 100;

export function registerDisputeRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  addExport: AddExport,
): void {
  const { store, index, share } = deps;

  addReadRoute(app, deps, routes.listNewestDisputes, async ({ caller, reply }) => {
    const query = { ...ofCaller(caller, {}), perPage: newestMax };
    const list = await readInPieces(share, query, index.listDisputes);
    if (list.kind === 'refused') return sendRefusedPage(reply, list.parameter);
    return reply.send({ success: true, disputes: list.views.map(toSpecifiedDispute) });
  });

  addReadRoute(app, deps, routes.listDisputes, ({ caller, query: asked, reply }) => {
    const query = ofCaller(caller, asked);
    return sendList(reply, share, {
      name: 'disputes',
      query,
      list: index.listDisputes,
      toShown: toPublicDispute,
    });
  });

  addExport(routes.exportDisputes, 'disputes', ({ caller, query: asked }) => {
    const query = ofCaller(caller, asked);
    return linesOfList(share, columns, (page) => index.listDisputes({ ...query, ...page }), toPublicDispute);
  });

  addReadRoute(app, deps, routes.retrieveDispute, async ({ caller, request, reply }) => {
    const token = parameterOf(request, 'token');
    const view = isToken(token) ? await readView(store, disputeKind, token) : undefined;
    if (view === undefined || !isOwnedBy(view.dispute, caller)) return sendError(reply, 'dispute_not_found');
    tellPosition(reply, [view]);
    return sendTagged(request, reply, { success: true, dispute: toPublicDispute(view) });
  });

  addReadRoute(app, deps, routes.listDisputesOfAll, ({ query: asked, reach, reply }) => {
    const query = ofTeams(deps, reach, asked, allOwnersIn);
    return sendList(reply, share, { name: 'disputes', query, list: index.listDisputes, toShown: toOwned });
  });

  addExport(routes.exportDisputesOfAll, 'disputes', ({ query: asked, reach }) => {
    const query = ofTeams(deps, reach, asked, allOwnersIn);
    return linesOfList(
      share,
      ['team', 'environment', ...columns],
      (page) => index.listDisputes({ ...query, ...page }),
      toOwned,
    );
  });
}

const toOwned = (view: DisputeView) => {
  const { environment, team } = view.dispute;
  return { ...toPublicDispute(view), environment, ...omitUndefined({ team }) };
};

/** Amounts are in minor units of the adjacent currency, times ISO 8601 in UTC. */
const columns = [
  ...['token', 'id', 'paymentToken', 'status', 'reportedStatus', 'createdAt', 'updatedAt', 'currency'],
  ...['amount', 'type', 'reasonCode', 'comment'],
];
