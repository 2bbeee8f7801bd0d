/** Payments, and payouts if the specification shows them among payments. */
import { routes, sendError, addReadRoute, parameterOf, tellPosition } from '@tollgate/gateway-api/http';
import type { FastifyInstance } from 'fastify';
import { linesOfList } from './csv-exports.ts';
import { sendTagged } from './entity-tag.ts';
import { ofCaller } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { fileColumns, listOf, toFileCells, toShownTo } from './payment-lists.ts';
import { mayReadPayouts, sendPayoutsNotAllowed, type ReadDependencies } from './reading.ts';

export function registerPaymentRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { sendPage, addExport }: ListRoutes,
): void {
  const { index, own, share } = deps;

  addReadRoute(
    app,
    deps,
    routes.listPayments,
    async ({ caller, query: { operationType, ...query }, reply }) => {
      if (operationType !== 'pays' && !mayReadPayouts(caller)) return sendPayoutsNotAllowed(reply);
      const listed = { name: 'payments', list: listOf(index, operationType), toShown: toShownTo(caller) };
      return sendPage(reply, ofCaller({ caller, query }), listed);
    },
  );

  addExport(routes.exportPayments, 'payments', ({ caller, query: { operationType, ...asked }, reply }) => {
    if (operationType !== 'pays' && !mayReadPayouts(caller)) return void sendPayoutsNotAllowed(reply);
    const query = ofCaller({ caller, query: asked });
    const list = listOf(index, operationType);
    return linesOfList(share, fileColumns, (page) => list({ ...query, ...page }), toFileCells);
  });

  addReadRoute(app, deps, routes.retrievePayment, async ({ caller, request, reply }) => {
    const token = parameterOf(request, 'token');
    const view =
      (await own.payment(caller, token)) ??
      (mayReadPayouts(caller) ? await own.payout(caller, token) : undefined);
    if (view === undefined) return sendError(reply, 'payment_not_found');
    tellPosition(reply, [view]);
    return sendTagged(request, reply, { success: true, payment: toShownTo(caller)(view) });
  });
}
