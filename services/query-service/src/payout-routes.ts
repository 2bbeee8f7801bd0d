/** Payouts, of a team and across teams. */
import { toPublicPayout } from '@tollgate/gateway-api';
import { routes, sendError, addReadRoute, parameterOf, tellPosition } from '@tollgate/gateway-api/http';
import { isToken } from '@tollgate/core';
import { type PayoutView, foldStream, payoutKind } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { sendTagged } from './entity-tag.ts';
import { payoutHistory, readHistory, readOperatorHistory } from './history.ts';
import { sendList } from './list-answer.ts';
import { accountFor } from './payment-lists.ts';
import { ofCaller, ofTeams } from './list-query.ts';
import { type ReadDependencies } from './reading.ts';

export function registerPayoutRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { store, index, own, share } = deps;

  addReadRoute(app, deps, routes.listPayouts, ({ caller, query: asked, reply }) => {
    const query = ofCaller(caller, asked);
    return sendList(reply, share, {
      name: 'payouts',
      query,
      list: index.listPayouts,
      toShown: (view) => ({ ...toPublicPayout(view), ...accountFor(caller, view) }),
    });
  });

  addReadRoute(app, deps, routes.retrievePayout, async ({ caller, request, reply }) => {
    const view = await own.payout(caller, parameterOf(request, 'token'));
    if (view === undefined) return sendError(reply, 'payout_not_found');
    tellPosition(reply, [view]);
    const payout = { ...toPublicPayout(view), ...accountFor(caller, view) };
    return sendTagged(request, reply, { success: true, payout });
  });

  addReadRoute(app, deps, routes.listPayoutEvents, async ({ caller, request, reply }) => {
    const token = parameterOf(request, 'token');
    const found = await readHistory(store, payoutHistory, { caller, token });
    if (found === undefined) return sendError(reply, 'payout_not_found');
    tellPosition(reply, [found]);
    return reply.send({ success: true, events: found.entries });
  });

  addReadRoute(app, deps, routes.listPayoutsOfAll, ({ query: asked, reach, reply }) => {
    const query = ofTeams(deps, reach, asked);
    return sendList(reply, share, {
      name: 'payouts',
      query,
      list: index.listPayouts,
      toShown: toOwnedPayout,
    });
  });

  addReadRoute(app, deps, routes.retrievePayoutOfAny, async ({ request, reach, reply }) => {
    const token = parameterOf(request, 'token');
    const view = isToken(token) ? await foldStream(store, payoutKind, token) : undefined;
    if (view === undefined || !reach.includes(view.payout)) return sendError(reply, 'payout_not_found');
    return reply.send({ success: true, payout: toOwnedPayout(view) });
  });

  addReadRoute(app, deps, routes.listPayoutEventsOfAny, async ({ request, reach, reply }) => {
    const token = parameterOf(request, 'token');
    const events = await readOperatorHistory(store, payoutHistory, { token, reach });
    return events === undefined
      ? sendError(reply, 'payout_not_found')
      : reply.send({ success: true, events });
  });
}

const toOwnedPayout = (view: PayoutView) => {
  const { team, environment } = view.payout;
  return { ...toPublicPayout(view), team, environment };
};
