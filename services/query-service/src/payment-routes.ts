/** Payments, and payouts where the specification shows them among payments. */
import { sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { sendTagged } from './entity-tag.ts';
import { paymentHistory, readHistory } from './history.ts';
import { parsePaymentListQuery } from './list-query.ts';
import { sendList } from './list-answer.ts';
import { awaitMinPosition } from './min-position.ts';
import { listOf, toShown } from './payment-lists.ts';
import {
  forReaders,
  mayReadPayouts,
  parameterOf,
  paymentNotFound,
  paymentScopes,
  payoutsNotAllowed,
  sendNotFound,
  type ReadDependencies,
} from './reading.ts';

export function registerPaymentRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { store, index, own } = deps;

  const getPayment = forReaders(deps, paymentScopes, async (caller, request, reply) => {
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    const token = parameterOf(request, 'token');
    const view =
      (await own.payment(caller, token)) ??
      (mayReadPayouts(caller) ? await own.payout(caller, token) : undefined);
    if (view === undefined) return sendNotFound(reply, paymentNotFound);
    return sendTagged(request, reply, { success: true, payment: toShown(view) });
  });

  const getHistory = forReaders(deps, paymentScopes, async (caller, request, reply) => {
    const token = parameterOf(request, 'token');
    const events = await readHistory(store, paymentHistory, { caller, token });
    return events === undefined
      ? sendNotFound(reply, paymentNotFound)
      : reply.send({ success: true, events });
  });

  const listPayments = forReaders(deps, paymentScopes, async (caller, request, reply) => {
    const parsed = parsePaymentListQuery(caller, request.query);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const { operationType, query } = parsed.data;
    if (operationType !== 'pays' && !mayReadPayouts(caller))
      return sendErrors(reply, 403, [payoutsNotAllowed]);
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    return sendList(reply, { name: 'payments', query, list: listOf(index, operationType, query), toShown });
  });

  app.get('/api/v1/payments', listPayments);
  app.get('/api/v1/payments/:token', getPayment);
  app.get('/api/v1/payments/:token/events', getHistory);
}
