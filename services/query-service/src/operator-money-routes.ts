/** Payouts and reconciliations across teams, for operators. */
import {
  type ReconciliationSummary,
  toPublicDifferences,
  toPublicReconciliation,
} from '@tollgate/reconciliation';
import { toPublicPayout } from '@tollgate/gateway-api';
import { routes, sendError, addReadRoute, parameterOf, sendRefusedPage } from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import { type Reach } from '@tollgate/teams';
import { isToken } from '@tollgate/core';
import { type PayoutView, foldStream, payoutKind } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { payoutHistory, readOperatorHistory } from './history.ts';
import { sendList } from './list-answer.ts';
import { ofTeams } from './list-query.ts';
import type { OperatorReadDependencies } from './operator-routes.ts';
import { readJournal, readReport } from './reconciliation-routes.ts';

export function registerOperatorMoneyRoutes(app: FastifyInstance, deps: OperatorReadDependencies): void {
  const { store, index, share } = deps;

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

  addReadRoute(app, deps, routes.listReconciliationsOfAll, async ({ query, reach, reply }) => {
    const { perPage, cursor } = query;
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return sendRefusedPage(reply, 'cursor');
    const before = cursor === undefined ? undefined : Number(cursor);
    const { shown, nextCursor } = await readJournal(deps, maySee(reach), { perPage, before });
    const reconciliations = shown.map(toOwnedReconciliation);
    return reply.send({ success: true, reconciliations, perPage, ...omitUndefined({ nextCursor }) });
  });

  addReadRoute(app, deps, routes.retrieveReconciliationOfAny, async ({ request, reach, reply }) => {
    const found = await readReport(deps, maySee(reach), parameterOf(request, 'token'));
    if (found === undefined) return sendError(reply, 'reconciliation_not_found');
    const differences = toPublicDifferences(found.report);
    return reply.send({
      success: true,
      reconciliation: { ...toOwnedReconciliation(found.summary), differences },
    });
  });
}

/** A report of an account with one team belongs to that team. */
const maySee =
  (reach: Reach) =>
  (summary: ReconciliationSummary): boolean =>
    reach.isEverywhere || reach.includes(summary);

const toOwnedPayout = (view: PayoutView) => {
  const { team, environment } = view.payout;
  return { ...toPublicPayout(view), team, environment };
};

const toOwnedReconciliation = (summary: ReconciliationSummary) => ({
  ...toPublicReconciliation(summary),
  environment: summary.environment,
  ...omitUndefined({ team: summary.team }),
});
