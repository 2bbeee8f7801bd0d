/** The reviews of a team. */
import { toPublicReviewEntry } from '@tollgate/gateway-api';
import { routes, addReadRoute } from '@tollgate/gateway-api/http';
import type { FastifyInstance } from 'fastify';
import { sendList } from './list-answer.ts';
import { ofCaller } from './list-query.ts';
import { mayReadPayouts, type ReadDependencies } from './reading.ts';

export function registerTeamRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { index } = deps;

  addReadRoute(app, deps, routes.listReviews, ({ caller, query, reply }) => {
    // Callers who may resolve reviews may see all of them.
    const maySeeAll = mayReadPayouts(caller) || caller.scopes.has('admin');
    const kinds = [
      'payment' as const,
      ...(maySeeAll ? ['payout' as const] : []),
      ...(caller.scopes.has('admin') ? ['unmatched' as const] : []),
    ];
    return sendList(reply, deps.share, {
      name: 'reviews',
      query: { ...ofCaller(caller, query), kinds },
      list: index.listReviews,
      toShown: toPublicReviewEntry,
    });
  });
}
