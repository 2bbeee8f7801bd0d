import { toPublicPayout } from '@tollgate/gateway-api';
import { routes, sendError, addReadRoute, parameterOf, tellPosition } from '@tollgate/gateway-api/http';
import type { FastifyInstance } from 'fastify';
import { sendTagged } from './entity-tag.ts';
import { payoutHistory, readHistory } from './history.ts';
import { sendList } from './list-answer.ts';
import { accountFor } from './payment-lists.ts';
import { ofCaller } from './list-query.ts';
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
}
