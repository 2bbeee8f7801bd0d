import { toPublicPayout } from '@tollgate/views';
import { sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { sendTagged } from './entity-tag.ts';
import { payoutHistory, readHistory } from './history.ts';
import { sendList } from './list-answer.ts';
import { parsePayoutListQuery } from './list-query.ts';
import { awaitMinPosition } from './min-position.ts';
import {
  forReaders,
  parameterOf,
  payoutNotFound,
  payoutScopes,
  sendNotFound,
  type ReadDependencies,
} from './reading.ts';

export function registerPayoutRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { store, index, own } = deps;

  const getPayout = forReaders(deps, payoutScopes, async (caller, request, reply) => {
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    const view = await own.payout(caller, parameterOf(request, 'token'));
    if (view === undefined) return sendNotFound(reply, payoutNotFound);
    return sendTagged(request, reply, { success: true, payout: toPublicPayout(view) });
  });

  const getHistory = forReaders(deps, payoutScopes, async (caller, request, reply) => {
    const token = parameterOf(request, 'token');
    const events = await readHistory(store, payoutHistory, { caller, token });
    return events === undefined ? sendNotFound(reply, payoutNotFound) : reply.send({ success: true, events });
  });

  const listPayouts = forReaders(deps, payoutScopes, async (caller, request, reply) => {
    const query = parsePayoutListQuery(caller, request.query);
    if (!query.success) return sendErrors(reply, 400, toErrorEntries(query.error));
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    const list = index.listPayouts(query.data);
    return sendList(reply, { name: 'payouts', query: query.data, list, toShown: toPublicPayout });
  });

  app.get('/api/v1/payouts', listPayouts);
  app.get('/api/v1/payouts/:token', getPayout);
  app.get('/api/v1/payouts/:token/events', getHistory);
}
