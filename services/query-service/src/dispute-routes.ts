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
import { toListQuery } from './list-query.ts';
import { allOwnersIn } from './operator-routes.ts';
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
    const asked = { ...toListQuery(caller, {}), perPage: newestMax };
    const list = await readInPieces(share, asked, (piece) => index.listDisputes(piece));
    if (list.kind === 'refused') return sendRefusedPage(reply, list.parameter);
    return reply.send({ success: true, disputes: list.views.map(toSpecifiedDispute) });
  });

  addReadRoute(app, deps, routes.listDisputes, async ({ caller, query: asked, reply }) => {
    const query = { ...toListQuery(caller, asked), perPage: asked.perPage };
    const list = await readInPieces(share, query, (piece) => index.listDisputes(piece));
    return sendList(reply, { name: 'disputes', query, list, toShown: toPublicDispute });
  });

  addExport(routes.exportDisputes, 'disputes', ({ caller, query: asked }) => {
    const query = toListQuery(caller, asked);
    return linesOfList(share, columns, (page) => index.listDisputes({ ...query, ...page }), toPublicDispute);
  });

  addReadRoute(app, deps, routes.retrieveDispute, async ({ caller, request, reply }) => {
    const token = parameterOf(request, 'token');
    const view = isToken(token) ? await readView(store, disputeKind, token) : undefined;
    if (view === undefined || !isOwnedBy(view.dispute, caller)) return sendError(reply, 'dispute_not_found');
    tellPosition(reply, [view]);
    return sendTagged(request, reply, { success: true, dispute: toPublicDispute(view) });
  });

  addReadRoute(app, deps, routes.listDisputesOfAll, async ({ query, reach, reply }) => {
    const { team, environment, perPage, ...rest } = query;
    const asked = {
      ...omitUndefined(rest),
      perPage,
      owners: allOwnersIn(deps, reach, { team, environment }),
    };
    const list = await readInPieces(share, asked, (piece) => index.listDisputesOfAll(piece));
    if (list.kind === 'refused') return sendRefusedPage(reply, list.parameter);
    const disputes = list.views.map(toOwned);
    return reply.send({
      success: true,
      disputes,
      perPage,
      ...omitUndefined({ nextCursor: list.nextCursor }),
    });
  });

  addExport(routes.exportDisputesOfAll, 'disputes', ({ query, reach }) => {
    const { team, environment, ...rest } = query;
    const asked = { ...omitUndefined(rest), owners: allOwnersIn(deps, reach, { team, environment }) };
    return linesOfList(
      share,
      ['team', 'environment', ...columns],
      (page) => index.listDisputesOfAll({ ...asked, ...page }),
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
