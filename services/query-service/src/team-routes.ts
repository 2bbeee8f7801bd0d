/** The reviews of a team. */
import { toPublicReviewEntry } from '@tollgate/gateway-api';
import { routes, addReadRoute, sendRefusedPage } from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { readInPieces } from './pieces.ts';
import { mayReadPayouts, type ReadDependencies } from './reading.ts';

export function registerTeamRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { index } = deps;

  addReadRoute(app, deps, routes.listReviews, async ({ caller, query: { perPage, cursor }, reply }) => {
    const { environment, team } = caller;
    // Callers who may resolve reviews may see all of them.
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
