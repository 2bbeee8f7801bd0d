/** The reviews of a team. */
import { toPublicReviewEntry } from '@tollgate/gateway-api';
import { routes, addReadRoute } from '@tollgate/gateway-api/http';
import type { FastifyInstance } from 'fastify';
import { ofCaller } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { mayReadPayouts, type ReadDependencies } from './reading.ts';

export function registerTeamRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { sendPage }: ListRoutes,
): void {
  addReadRoute(app, deps, routes.listReviews, ({ caller, query, reply }) => {
    // Callers who may resolve reviews may see all of them.
    const maySeeAll = mayReadPayouts(caller) || caller.scopes.has('admin');
    const kinds = [
      'payment' as const,
      ...(maySeeAll ? ['payout' as const] : []),
      ...(caller.scopes.has('admin') ? ['unmatched' as const] : []),
    ];
    const asked = { ...ofCaller({ caller, query }), kinds };
    return sendPage(reply, asked, {
      name: 'reviews',
      list: deps.index.listReviews,
      toShown: toPublicReviewEntry,
    });
  });
}
