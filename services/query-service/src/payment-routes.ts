/** Payments, and payouts where the specification shows them among payments. */
import {
  toListedPayout,
  toPublicPayment,
  type DocumentList,
  type OperationDocument,
  type PaymentIndex,
  type PaymentListQuery,
} from '@tollgate/read-models';
import { sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { sendTagged } from './entity-tag.ts';
import { paymentHistory, readHistory } from './history.ts';
import { parsePaymentListQuery, type OperationType } from './list-query.ts';
import { sendList } from './list-answer.ts';
import { awaitMinPosition } from './min-position.ts';
import {
  forReaders,
  mayReadPayouts,
  parameterOf,
  paymentNotFound,
  paymentScopes,
  sendNotFound,
  type ReadDependencies,
} from './reading.ts';

export function registerPaymentRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { store, index, own } = deps;

  const getPayment = forReaders(deps, paymentScopes, async (caller, request, reply) => {
    if (!(await awaitMinPosition(index, request, reply))) return reply;
    const token = parameterOf(request, 'token');
    const document =
      (await own.payment(caller, token)) ??
      (mayReadPayouts(caller) ? await own.payout(caller, token) : undefined);
    if (document === undefined) return sendNotFound(reply, paymentNotFound);
    return sendTagged(request, reply, { success: true, payment: toShown(document) });
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
    if (!(await awaitMinPosition(index, request, reply))) return reply;
    return sendList(reply, { name: 'payments', query, list: listOf(index, operationType, query), toShown });
  });

  app.get('/api/v1/payments', listPayments);
  app.get('/api/v1/payments/:token', getPayment);
  app.get('/api/v1/payments/:token/events', getHistory);
}

const payoutsNotAllowed = {
  code: 'scope_missing',
  kind: 'authentication_error',
  message: 'This API key lacks the scope read or payouts, which a list with payouts takes.',
};

const listBy: Record<
  OperationType,
  (index: PaymentIndex, query: PaymentListQuery) => DocumentList<OperationDocument>
> = {
  pays: (index, query) => index.list(query),
  payouts: (index, query) => index.listPayouts(query),
  all: (index, query) => index.listOperations(query),
};

const listOf = (index: PaymentIndex, type: OperationType, query: PaymentListQuery) =>
  listBy[type](index, query);

const toShown = (document: OperationDocument) =>
  'payment' in document ? toPublicPayment(document) : toListedPayout(document);
