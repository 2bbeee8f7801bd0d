/** The read side of the gateway's API: one payment, lists of them, and their history. */
import type { EventStore } from '@tollgate/event-store';
import type { Scope } from '@tollgate/payment-domain';
import {
  authenticate,
  toPublicPayment,
  type Caller,
  type PaymentIndex,
  type TeamDirectory,
} from '@tollgate/read-models';
import {
  given,
  sendErrors,
  toErrorEntries,
  type Clock,
  type ErrorEntry,
  type Log,
} from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { awaitMinPosition } from './min-position.ts';
import { readHistory } from './payment-history.ts';
import { parseListQuery } from './payment-list-query.ts';
import { createPaymentReader } from './payment-reader.ts';
import { answerUnavailableStore } from './store-failure.ts';

export interface QueryServiceOptions {
  store: EventStore;
  /** Started and stopped by whoever made it. */
  index: PaymentIndex;
  /** Started and stopped by whoever made it. */
  directory: TeamDirectory;
  log: Log;
  clock: Clock;
}

export interface QueryService {
  /** Adds the GET routes to a server that answers in JSON only. */
  registerRoutes(app: FastifyInstance): void;
}

const scopes: readonly Scope[] = ['read', 'payments'];

const paymentNotFound: ErrorEntry = {
  code: 'payment_not_found',
  kind: 'invalid_request_error',
  message: 'There is no payment with this token.',
  parameter: 'token',
};

type Handler = (caller: Caller, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export function createQueryService({ store, index, directory, log }: QueryServiceOptions): QueryService {
  const findPayment = createPaymentReader({ store, index });

  /** Refuses who may not read, and answers for a store that cannot be reached. */
  const forReaders = (handle: Handler) => async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = authenticate(directory, request, reply, scopes);
    if (caller === undefined) return reply;
    try {
      return await handle(caller, request, reply);
    } catch (error) {
      return answerUnavailableStore(error, reply, log);
    }
  };

  const getPayment: Handler = async (caller, request, reply) => {
    if (!(await awaitMinPosition(index, request, reply))) return reply;
    const document = await findPayment(caller, tokenOf(request));
    if (document === undefined) return sendErrors(reply, 404, [paymentNotFound]);
    return reply.send({ success: true, payment: toPublicPayment(document) });
  };

  const getHistory: Handler = async (caller, request, reply) => {
    const events = await readHistory(store, caller, tokenOf(request));
    if (events === undefined) return sendErrors(reply, 404, [paymentNotFound]);
    return reply.send({ success: true, events });
  };

  const listPayments: Handler = async (caller, request, reply) => {
    const query = parseListQuery(caller, request.query);
    if (!query.success) return sendErrors(reply, 400, toErrorEntries(query.error));
    if (!(await awaitMinPosition(index, request, reply))) return reply;
    const { perPage, page, cursor } = query.data;
    const list = index.list(query.data);
    if (list.kind === 'refused') return sendErrors(reply, 400, [refusedPage(list.parameter)]);
    const { documents, nextCursor, totalCount } = list;
    const payments = documents.map(toPublicPayment);
    const shownPage = cursor === undefined ? (page ?? 1) : undefined;
    return reply.send({
      success: true,
      payments,
      ...given({ page: shownPage, perPage, nextCursor, totalCount }),
    });
  };

  return {
    registerRoutes: (app) => {
      app.get('/api/v1/payments', forReaders(listPayments));
      app.get('/api/v1/payments/:token', forReaders(getPayment));
      app.get('/api/v1/payments/:token/events', forReaders(getHistory));
    },
  };
}

const tokenOf = (request: FastifyRequest): string => (request.params as { token: string }).token;

const refusedPage = (parameter: 'cursor' | 'page'): ErrorEntry => ({
  code: 'invalid_param',
  kind: 'invalid_request_error',
  message:
    parameter === 'cursor'
      ? 'cursor is not one that a list of yours has given as nextCursor.'
      : 'page leads to rows beyond the first 10000: follow nextCursor instead.',
  parameter,
});
