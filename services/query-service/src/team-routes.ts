/** What is read over all of a team's payments and payouts: refunds, disputes, and what waits for a person. */
import { toPublicReviewEntry } from '@tollgate/view-index';
import { toPublicDispute } from '@tollgate/views';
import { given, sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { sendTagged } from './entity-tag.ts';
import { noQuerySchema, parseReviewQuery } from './list-query.ts';
import { awaitMinPosition } from './min-position.ts';
import {
  reviewScopes,
  forReaders,
  mayReadPayouts,
  parameterOf,
  paymentScopes,
  refundNotFound,
  refundScopes,
  refusedPage,
  sendNotFound,
  type ReadDependencies,
} from './reading.ts';
import { findRefund } from './refund-reader.ts';

/** Disputes that the list shows, as in the specification. */
const disputesMax = 100;

export function registerTeamRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { index } = deps;

  const getRefund = forReaders(deps, refundScopes, async (caller, request, reply) => {
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    const refund = await findRefund(deps, caller, parameterOf(request, 'refundToken'));
    return refund === undefined
      ? sendNotFound(reply, refundNotFound)
      : sendTagged(request, reply, { success: true, refund });
  });

  const listDisputes = forReaders(deps, paymentScopes, async (caller, request, reply) => {
    const query = noQuerySchema.safeParse(request.query);
    if (!query.success) return sendErrors(reply, 400, toErrorEntries(query.error));
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    const disputes = index.listDisputes(caller, disputesMax).map(toPublicDispute);
    return reply.send({ success: true, disputes });
  });

  const listReviews = forReaders(deps, reviewScopes, async (caller, request, reply) => {
    const query = parseReviewQuery(request.query);
    if (!query.success) return sendErrors(reply, 400, toErrorEntries(query.error));
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    const { environment, team } = caller;
    const { perPage, cursor } = query.data;
    const maySeeAll = mayReadPayouts(caller) || caller.scopes.has('admin');
    const kind = maySeeAll ? undefined : ('payment' as const);
    const list = index.listReviews({ environment, team, perPage, ...given({ cursor, kind }) });
    if (list.kind === 'refused') return sendErrors(reply, 400, [refusedPage(list.parameter)]);
    const reviews = list.entries.map(toPublicReviewEntry);
    return reply.send({ success: true, reviews, perPage, ...given({ nextCursor: list.nextCursor }) });
  });

  app.get('/api/v1/refunds/:refundToken', getRefund);
  app.get('/api/v1/disputes/list', listDisputes);
  app.get('/api/v1/reviews', listReviews);
}
