/** Payouts, of a team and across teams. */
import { toPublicPayout } from '@tollgate/gateway-api';
import { routes, sendError, addReadRoute, parameterOf } from '@tollgate/gateway-api/http';
import { isToken } from '@tollgate/core';
import type { Caller } from '@tollgate/teams';
import { type PayoutView, foldStream, payoutKind } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { ofCaller, ofTeams } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { accountFor } from './payment-lists.ts';
import { type ReadDependencies, ownView, sendOne, withOwner } from './reading.ts';

export function registerPayoutRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { addList, sendPage }: ListRoutes,
): void {
  const { store, index } = deps;
  const payouts = { name: 'payouts', list: index.listPayouts };
  const shownTo = (caller: Caller) => (view: PayoutView) => ({
    ...toPublicPayout(view),
    ...accountFor(caller, view),
  });

  addReadRoute(app, deps, routes.listPayouts, (call) =>
    sendPage(call.reply, ofCaller(call), { ...payouts, toShown: shownTo(call.caller) }),
  );
  addList(routes.listPayoutsOfAll, { ...payouts, toShown: toOwnedPayout }, (call) => ofTeams(deps, call));

  addReadRoute(app, deps, routes.retrievePayout, async (call) => {
    const view = await ownView(deps, payoutKind, call.caller, parameterOf(call.request, 'token'));
    if (view === undefined) return sendError(call.reply, 'payout_not_found');
    return sendOne(call, view, { payout: shownTo(call.caller)(view) });
  });

  addReadRoute(app, deps, routes.retrievePayoutOfAny, async ({ request, reach, reply }) => {
    const token = parameterOf(request, 'token');
    const view = isToken(token) ? await foldStream(store, payoutKind, token) : undefined;
    if (view === undefined || !reach.includes(view.payout)) return sendError(reply, 'payout_not_found');
    return reply.send({ success: true, payout: toOwnedPayout(view) });
  });
}

const toOwnedPayout = withOwner(toPublicPayout, ({ payout }) => payout);
