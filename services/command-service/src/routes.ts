/** The routes of the command service: parse, call, map the answer. */
import { type Caller, type TeamDirectory, authenticate } from '@tollgate/read-models';
import {
  type ErrorEntry,
  type Ids,
  InvariantViolation,
  type Log,
  TollgateError,
  sendErrors,
} from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type CreatePaymentDependencies, createPayment } from './create-payment.ts';
import { toCreationAnswer } from './payment-answer.ts';
import { parseIdempotencyKey, parsePaymentRequest } from './payment-request.ts';
import type { Cause } from './payments.ts';

export interface RouteDependencies extends CreatePaymentDependencies {
  directory: TeamDirectory;
  ids: Ids;
  log: Log;
}

export function registerCommandRoutes(app: FastifyInstance, deps: RouteDependencies): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  app.post('/api/v1/payments', {
    // Before the body is read: a stranger's costs nothing.
    onRequest: async (request, reply) => {
      const caller = authenticate(deps.directory, request, reply, 'payments');
      if (caller === undefined) return reply;
      callers.set(request, caller);
      return undefined;
    },
    handler: async (request, reply) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new InvariantViolation('a request came past the check of its key');
      return postPayment(deps, caller, request, reply);
    },
  });
}

async function postPayment(
  deps: RouteDependencies,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parsed = parsePaymentRequest(request.body);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, toEntries(parsed.errors));
  const key = parseIdempotencyKey(request.headers['idempotency-key'], parsed.value.orderNumber);
  if (key.kind === 'refused') return sendErrors(reply, 400, toEntries(key.errors));
  const cause = causeOf(deps, request, { kind: 'team', team: caller.team, keyId: caller.keyId });
  const input = { caller, key: key.value, request: parsed.value, cause };
  const result = await unlessStoreIsDown(createPayment(deps, input), deps.log);
  if (result === undefined) return sendStoreUnavailable(reply);
  if (result.kind === 'refused') return sendRefusal(reply, result);
  const { statusCode, body, retryAfterSeconds } = toCreationAnswer(result.document);
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  if (result.replayed) reply.header('Idempotent-Replayed', 'true');
  return reply.header('Tollgate-Position', result.document.position).code(statusCode).send(body);
}

function causeOf(deps: RouteDependencies, request: FastifyRequest, actor: Cause['actor']): Cause {
  const correlationId = deps.ids.uuid();
  const traceparent = request.headers['traceparent'];
  const isTraceparent =
    typeof traceparent === 'string' &&
    /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  return { correlationId, causationId: correlationId, actor, ...(isTraceparent ? { traceparent } : {}) };
}

const toEntries = (
  errors: readonly {
    code: string;
    kind: string;
    message?: string | undefined;
    parameter?: string | undefined;
  }[],
): ErrorEntry[] =>
  errors.map(({ code, kind, message, parameter }) => ({
    code,
    kind,
    message: message ?? code,
    ...(parameter === undefined ? {} : { parameter }),
  }));

function sendRefusal(
  reply: FastifyReply,
  refusal: { code: 'idempotency_key_reused' | 'operation_in_progress'; token: string },
): FastifyReply {
  const parameter = 'Idempotency-Key';
  if (refusal.code === 'idempotency_key_reused') {
    const message =
      'This key (or order number) was used with another request body. Use a new key for a new payment.';
    return sendErrors(reply, 422, [
      { code: refusal.code, kind: 'invalid_request_error', message, parameter },
    ]);
  }
  const message =
    'The first request with this key is still running. Repeat it later: it will not be carried out twice.';
  reply.header('Retry-After', '2');
  return sendErrors(reply, 409, [{ code: refusal.code, kind: 'processing_error', message, parameter }]);
}

/** Undefined where the event store could not tell that it is durable: nothing was promised, the caller repeats safely. */
async function unlessStoreIsDown<Value>(work: Promise<Value>, log: Log): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof TollgateError && error.retryable)) throw error;
    log.error({ error, operation: 'create' }, 'the event store is unavailable');
    return undefined;
  }
}

function sendStoreUnavailable(reply: FastifyReply): FastifyReply {
  reply.header('Retry-After', '5');
  const message =
    'The gateway cannot record anything now. Repeat the request: it will not be carried out twice.';
  return sendErrors(reply, 503, [{ code: 'store_unavailable', kind: 'api_error', message }]);
}
