/** The reviews, of a team and across teams. */
import { proposedByOf, toPublicReviewEntry } from '@tollgate/gateway-api';
import { routes, addReadRoute, sendRefusedPage } from '@tollgate/gateway-api/http';
import { type ReviewEntry, reviewKinds } from '@tollgate/lists';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { ofCaller, ofTeams } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { readInPieces } from './pieces.ts';
import { mayReadPayouts, type ReadDependencies } from './reading.ts';

export function registerReviewRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { sendPage }: ListRoutes,
): void {
  const { index } = deps;

  addReadRoute(app, deps, routes.listReviews, ({ caller, query, reply }) => {
    // Callers who may resolve reviews may see all of them.
    const maySeeAll = mayReadPayouts(caller) || caller.scopes.has('admin');
    const kinds = [
      'payment' as const,
      ...(maySeeAll ? ['payout' as const] : []),
      ...(caller.scopes.has('admin') ? ['unmatched' as const] : []),
    ];
    const asked = { ...ofCaller({ caller, query }), kinds };
    return sendPage(reply, asked, { name: 'reviews', list: index.listReviews, toShown: toPublicReviewEntry });
  });

  addReadRoute(app, deps, routes.listReviewsOfAll, async ({ query, reach, reply }) => {
    const asked = { ...ofTeams(deps, { reach, query }), kinds: reviewKinds };
    const list = await readInPieces(deps.share, asked, index.listReviews);
    if (list.kind === 'refused') return sendRefusedPage(reply, list.parameter);
    const { views: entries, nextCursor } = list;
    const count = query.token === undefined ? index.countWaiting(asked.owners).reviews : entries.length;
    return reply.send({
      success: true,
      reviews: entries.map(toOperatorsReviewEntry),
      count,
      ...omitUndefined({ nextCursor }),
    });
  });
}

/** Operators see the author of a resolution; teams do not. */
const toOperatorsReviewEntry = (entry: ReviewEntry) => ({
  ...toPublicReviewEntry(entry),
  team: entry.team,
  environment: entry.environment,
  ...omitUndefined({ proposedBy: proposedByOf(entry) }),
});
