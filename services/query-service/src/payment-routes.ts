/** Payments, and payouts if the specification shows them among payments. */
import { routes, sendError, addReadRoute, parameterOf } from '@tollgate/gateway-api/http';
import type { FastifyInstance } from 'fastify';
import { linesOfList } from './csv-exports.ts';
import { ofCaller } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { fileColumns, listOf, toFileCells, toShownTo } from './payment-lists.ts';
import { paymentKind, payoutKind } from '@tollgate/views';
import { mayReadPayouts, ownView, sendOne, sendPayoutsNotAllowed, type ReadDependencies } from './reading.ts';

export function registerPaymentRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { sendPage, addExport }: ListRoutes,
): void {
  const { index, share } = deps;

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

  addReadRoute(app, deps, routes.retrievePayment, async (call) => {
    const { caller, request, reply } = call;
    const token = parameterOf(request, 'token');
    const view =
      (await ownView(deps, paymentKind, caller, token)) ??
      (mayReadPayouts(caller) ? await ownView(deps, payoutKind, caller, token) : undefined);
    if (view === undefined) return sendError(reply, 'payment_not_found');
    return sendOne(call, view, { payment: toShownTo(caller)(view) });
  });
}
