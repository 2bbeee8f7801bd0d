/** Disputes: the list of the specification, lists, files, and one by its own token. */
import { toPublicDispute, toSpecifiedDispute } from '@tollgate/gateway-api';
import { routes, sendError, addReadRoute, parameterOf, sendRefusedPage } from '@tollgate/gateway-api/http';
import { disputeKind } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { allOwnersIn, ofCaller, ofTeams } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { readInPieces } from './pieces.ts';
import { type ReadDependencies, ownView, sendOne, withOwner } from './reading.ts';

/** Maximum disputes in the specification's list. */
const newestMax = 100;

export function registerDisputeRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { addList, addFile }: ListRoutes,
): void {
  const { index, share } = deps;
  const disputes = { name: 'disputes', list: index.listDisputes } as const;

  addReadRoute(app, deps, routes.listNewestDisputes, async ({ caller, reply }) => {
    const query = ofCaller({ caller, query: { perPage: newestMax } });
    const list = await readInPieces(share, query, index.listDisputes);
    if (list.kind === 'refused') return sendRefusedPage(reply, list.parameter);
    return reply.send({ success: true, disputes: list.views.map(toSpecifiedDispute) });
  });
  addList(routes.listDisputes, { ...disputes, toShown: toPublicDispute }, ofCaller);
  addFile(routes.exportDisputes, { ...disputes, columns, toCells: toPublicDispute }, ofCaller);
  addList(routes.listDisputesOfAll, { ...disputes, toShown: toOwned }, (call) =>
    ofTeams(deps, call, allOwnersIn),
  );
  addFile(
    routes.exportDisputesOfAll,
    { ...disputes, columns: ['team', 'environment', ...columns], toCells: toOwned },
    (call) => ofTeams(deps, call, allOwnersIn),
  );

  addReadRoute(app, deps, routes.retrieveDispute, async (call) => {
    const view = await ownView(deps, disputeKind, call.caller, parameterOf(call.request, 'token'));
    if (view === undefined) return sendError(call.reply, 'dispute_not_found');
    return sendOne(call, view, { dispute: toPublicDispute(view) });
  });
}

const toOwned = withOwner(toPublicDispute, ({ dispute }) => dispute);

/** Amounts are in minor units of the adjacent currency, times ISO 8601 in UTC. */
const columns = [
  ...['token', 'id', 'paymentToken', 'status', 'reportedStatus', 'createdAt', 'updatedAt', 'currency'],
  ...['amount', 'type', 'reasonCode', 'comment'],
];
