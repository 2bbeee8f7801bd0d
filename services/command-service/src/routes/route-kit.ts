/** What the routes of the command service have in common: who calls, what set it off, and how a refusal is answered. */
import type { PaymentRefusal, PayoutRefusal } from '@tollgate/payment-domain';
import type { Scope } from '@tollgate/teams';
import { type Caller, type TeamDirectory, authenticate } from '@tollgate/teams';
import { type Ids, InvariantViolation, type Log, TollgateError, sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OriginRefusal } from '../operations/allowed-origin.ts';
import type { NotBegun } from '../operations/operation.ts';
import type { Cause } from '../streams/repository.ts';

export interface RouteKit {
  directory: TeamDirectory;
  ids: Ids;
  log: Log;
}

export interface CallerRequest {
  caller: Caller;
  cause: Cause;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Adds a route for callers whose key has one of the scopes. A store that cannot be written to is answered with 503. */
export function addRoute(
  app: FastifyInstance,
  kit: RouteKit,
  route: { method: 'GET' | 'POST'; url: string; scope: Scope | readonly Scope[] },
  handle: (call: CallerRequest) => Promise<FastifyReply>,
): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  const { method, url, scope } = route;
  app.route({
    method,
    url,
    // Before the body is read: a stranger's costs nothing.
    onRequest: async (request, reply) => {
      const caller = authenticate(kit.directory, request, reply, scope);
      if (caller === undefined) return reply;
      callers.set(request, caller);
      return undefined;
    },
    handler: async (request, reply) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new InvariantViolation('a request came past the check of its key');
      const cause = causeOf(kit, request, { kind: 'team', team: caller.team, keyId: caller.keyId });
      // A reply is a thenable without a value: whether it was answered cannot be told by what `handle` resolves with.
      await handle({ caller, cause, request, reply }).catch((error: unknown) => {
        answerStoreDown(kit.log, reply, error);
      });
      return reply;
    },
  });
}

function causeOf(kit: RouteKit, request: FastifyRequest, actor: Cause['actor']): Cause {
  const correlationId = kit.ids.uuid();
  const traceparent = request.headers['traceparent'];
  const isTraceparent =
    typeof traceparent === 'string' &&
    /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  return { correlationId, causationId: correlationId, actor, ...(isTraceparent ? { traceparent } : {}) };
}

/** The event store could not tell that it is durable: nothing was promised, the caller repeats safely. */
function answerStoreDown(log: Log, reply: FastifyReply, error: unknown): void {
  if (!(error instanceof TollgateError && error.retryable)) throw error;
  log.error({ error, operation: 'command' }, 'the event store is unavailable');
  reply.header('Retry-After', '5');
  const message =
    'The gateway cannot record anything now. Repeat the request: it will not be carried out twice.';
  sendErrors(reply, 503, [{ code: 'store_unavailable', kind: 'api_error', message }]);
}

export type Refusal = PaymentRefusal | PayoutRefusal | { code: 'recurring_token_not_found' } | OriginRefusal;

interface RefusalAnswer {
  statusCode: number;
  kind: 'invalid_request_error' | 'processing_error';
  message: string;
  parameter: string;
  retryAfterSeconds?: number;
}

/** @param keyParameter what a repeat of the request is known by */
function toRefusalAnswer(refusal: Refusal, keyParameter: string): RefusalAnswer {
  switch (refusal.code) {
    case 'idempotency_key_reused':
      return {
        ...{ statusCode: 422, kind: 'invalid_request_error', parameter: keyParameter },
        message:
          'This key (or order number) was used with another request body. Use a new key for a new request.',
      };
    case 'operation_in_progress':
      return {
        ...{ statusCode: 409, kind: 'processing_error', parameter: keyParameter, retryAfterSeconds: 2 },
        message:
          'An operation on it is still running, or its outcome is not known yet. Repeat the request later: it will not be carried out twice.',
      };
    case 'payment_not_found':
      return notFound('There is no payment with this token.', 'token');
    case 'payout_not_found':
      return notFound('There is no payout with this token.', 'token');
    case 'review_not_found':
      return notFound('Nothing with this code waits for a person here.', 'code');
    case 'payment_not_confirmable':
      return refusedByState('No money of the payment is held.', 'token');
    case 'payment_in_final_state':
      return refusedByState('The payment is final: this cannot be done to it any more.', 'token');
    case 'refund_exceeds_amount':
      return refusedByState(
        `At most ${refusal.refundableAmount} of the payment can be refunded now, in minor units.`,
        'amount',
      );
    case 'recurring_token_not_found':
      return refusedByState('There is no recurring token of yours with this name.', 'recurringToken');
    case 'payment_not_refundable':
      return refusedByState(
        'No money of the payment can be given back: none was taken, or not by it.',
        'token',
      );
    case 'origin_not_allowed':
      return {
        ...{ statusCode: 400, kind: 'invalid_request_error', parameter: refusal.parameter },
        message: `must point to an origin that your team has allowed for ${refusal.purpose}, over https, written without user name and backslash`,
      };
    case 'resolution_not_allowed':
      return refusedByState(`It can be resolved by: ${refusal.allowed.join(', ')}.`, 'resolution');
  }
}

const notFound = (message: string, parameter: string): RefusalAnswer => ({
  ...{ statusCode: 404, kind: 'invalid_request_error', message, parameter },
});

const refusedByState = (message: string, parameter: string): RefusalAnswer => ({
  ...{ statusCode: 409, kind: 'processing_error', message, parameter },
});

export function sendRefusal(reply: FastifyReply, refusal: Refusal, keyParameter = 'Idempotency-Key') {
  const { statusCode, kind, message, parameter, retryAfterSeconds } = toRefusalAnswer(refusal, keyParameter);
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  return sendErrors(reply, statusCode, [{ code: refusal.code, kind, message, parameter }]);
}

const noAccountMessages = {
  currency: 'No account of this gateway takes this (environment, team and currency).',
  token: 'The account that took this payment is not configured any more. The operators must act.',
};

/**
 * Nothing was announced and nothing was sent.
 *
 * @param parameter what the account follows from: the currency of something new, or the payment that an account took
 */
export function sendNotBegun(
  reply: FastifyReply,
  notBegun: NotBegun,
  parameter: 'currency' | 'token',
): FastifyReply {
  if (notBegun.kind === 'no-account') {
    const message = noAccountMessages[parameter];
    return sendErrors(reply, 409, [{ code: 'no_account', kind: 'processing_error', message, parameter }]);
  }
  reply.header('Retry-After', String(notBegun.retryAfterSeconds));
  const message =
    'The Payment Service cannot be reached now; nothing was sent to it. Repeat the request later, with the same key.';
  return sendErrors(reply, 503, [{ code: 'provider_unavailable', kind: 'api_error', message }]);
}
