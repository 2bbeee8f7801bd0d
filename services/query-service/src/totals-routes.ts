/** What a team took, gave back and paid out, day by day. */
import { toPublicTotals } from '@tollgate/views';
import { given, sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { awaitMinPosition } from './min-position.ts';
import { forReaders, mayReadPayouts, paymentScopes, type ReadDependencies } from './reading.ts';
import { parseTotalsQuery } from './totals-query.ts';

export function registerTotalsRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { index, clock } = deps;
  const totalsIndex = {
    waitFor: (...waited: Parameters<typeof index.waitForTotals>) => index.waitForTotals(...waited),
  };

  const listTotals = forReaders(deps, paymentScopes, async (caller, request, reply) => {
    const parsed = parseTotalsQuery(request.query, clock.now());
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    if (!(await awaitMinPosition(totalsIndex, caller, request, reply))) return reply;
    const { from, to, currency } = parsed.data;
    const { environment, team } = caller;
    const views = index.listTotals({ environment, team, from, to, ...given({ currency }) });
    const totals = toPublicTotals(views, { withPayouts: mayReadPayouts(caller) });
    return reply.send({ success: true, from, to, ...totals });
  });

  app.get('/api/v1/totals', listTotals);
}
