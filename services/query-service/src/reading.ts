/** What every route of the read side does before and after its own work. */
import type { EventStore } from '@tollgate/event-store';
import type { Scope } from '@tollgate/teams';
import { authenticate, type Caller, type TeamDirectory } from '@tollgate/teams';
import { type PaymentIndex } from '@tollgate/view-index';
import { sendErrors, type Clock, type ErrorEntry, type Log } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OwnViews } from './own-views.ts';
import { answerUnavailableStore } from './store-failure.ts';

export interface ReadDependencies {
  store: EventStore;
  index: PaymentIndex;
  directory: TeamDirectory;
  log: Log;
  clock: Clock;
  own: OwnViews;
}

type Handler = (caller: Caller, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Refuses who has none of the scopes, and answers for a store that cannot be reached. */
export const forReaders =
  ({ directory, log }: ReadDependencies, scopes: readonly Scope[], handle: Handler) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const caller = authenticate(directory, request, reply, scopes);
    if (caller === undefined) return reply;
    try {
      return await handle(caller, request, reply);
    } catch (error) {
      return answerUnavailableStore(error, reply, log);
    }
  };

export const paymentScopes: readonly Scope[] = ['read', 'payments'];
export const payoutScopes: readonly Scope[] = ['read', 'payouts'];
/** Who may end what waits for a person may see it, too. */
export const reviewScopes: readonly Scope[] = [...paymentScopes, 'admin'];
export const refundScopes: readonly Scope[] = ['read', 'refunds', 'payments'];

export const mayReadPayouts = ({ scopes }: Caller): boolean =>
  payoutScopes.some((scope) => scopes.has(scope));

export const parameterOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? '';

const notFound = (code: string, noun: string, parameter: string): ErrorEntry => ({
  code,
  kind: 'invalid_request_error',
  message: `There is no ${noun} with this token.`,
  parameter,
});
export const paymentNotFound = notFound('payment_not_found', 'payment', 'token');
export const payoutNotFound = notFound('payout_not_found', 'payout', 'token');
export const refundNotFound = notFound('refund_not_found', 'refund', 'refundToken');

export const sendNotFound = (reply: FastifyReply, error: ErrorEntry): FastifyReply =>
  sendErrors(reply, 404, [error]);

export const refusedPage = (parameter: 'cursor' | 'page'): ErrorEntry => ({
  code: 'invalid_param',
  kind: 'invalid_request_error',
  message:
    parameter === 'cursor'
      ? 'cursor is not one that this list of yours has given as nextCursor.'
      : 'page leads to rows beyond the first 10000: follow nextCursor instead.',
  parameter,
});

export const payoutsNotAllowed = {
  code: 'scope_missing',
  kind: 'authentication_error',
  message: 'This API key lacks the scope read or payouts, which a list with payouts takes.',
};
