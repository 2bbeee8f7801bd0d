/** A team's payments, refunds and payouts, day by day. */
import { SumTooLarge, toPublicTotals } from '@tollgate/views';
import { routes, sendError, addReadRoute } from '@tollgate/gateway-api/http';
import { omitUndefined, sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { mayReadPayouts, type ReadDependencies } from './reading.ts';
import { parseTotalsRange } from './totals-query.ts';

export function registerTotalsRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { index, clock } = deps;
  addReadRoute(app, deps, routes.listTotals, async ({ caller, query, reply }) => {
    const range = parseTotalsRange(query, clock.now());
    if (!range.success) return sendErrors(reply, 400, toErrorEntries(range.error));
    const { from, to, currency } = range.data;
    const { environment, team } = caller;
    const views = index.listTotals({ environment, team, from, to, ...omitUndefined({ currency }) });
    try {
      const totals = toPublicTotals(views, { withPayouts: mayReadPayouts(caller) });
      return await reply.send({ success: true, dateFrom: from, dateTo: to, ...totals });
    } catch (error) {
      if (error instanceof SumTooLarge) return sendError(reply, 'sum_too_large');
      throw error;
    }
  });
}
