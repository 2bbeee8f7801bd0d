/** Reads across a team's payments and payouts: refunds, disputes and reviews. */
import { toPublicDispute, toPublicReviewEntry } from '@tollgate/gateway-api';
import {
  routes,
  sendError,
  addReadRoute,
  parameterOf,
  sendRefusedPage,
  tellPosition,
} from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { sendTagged } from './entity-tag.ts';
import { readInPieces } from './pieces.ts';
import { mayReadPayouts, type ReadDependencies } from './reading.ts';
import { findRefund } from './refund-reader.ts';

/** The most disputes that the list shows, as in the specification. */
const disputesMax = 100;

export function registerTeamRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { index } = deps;

  addReadRoute(app, deps, routes.retrieveRefund, async ({ caller, request, reply }) => {
    const found = await findRefund(deps, caller, parameterOf(request, 'refundToken'));
    if (found === undefined) return sendError(reply, 'refund_not_found');
    tellPosition(reply, [found]);
    return sendTagged(request, reply, { success: true, refund: found.refund });
  });

  addReadRoute(app, deps, routes.listDisputes, async ({ caller, reply }) => {
    const disputes = index.listDisputes(caller, disputesMax).map(toPublicDispute);
    return reply.send({ success: true, disputes });
  });

  addReadRoute(app, deps, routes.listReviews, async ({ caller, query: { perPage, cursor }, reply }) => {
    const { environment, team } = caller;
    // Who may resolve reviews may see all of them.
    const maySeeAll = mayReadPayouts(caller) || caller.scopes.has('admin');
    const kinds = [
      'payment' as const,
      ...(maySeeAll ? ['payout' as const] : []),
      ...(caller.scopes.has('admin') ? ['unmatched' as const] : []),
    ];
    const asked = { environment, team, perPage, kinds, ...omitUndefined({ cursor }) };
    const list = await readInPieces(deps.share, asked, (piece) => index.listReviews(piece));
    if (list.kind === 'refused') return sendRefusedPage(reply, list.parameter);
    const reviews = list.views.map(toPublicReviewEntry);
    return reply.send({ success: true, reviews, perPage, ...omitUndefined({ nextCursor: list.nextCursor }) });
  });
}
