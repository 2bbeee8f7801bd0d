/** Parts shared by the routes of the command service: caller, cause, and answers to refusals. */
import { formatAmount } from '@tollgate/core/money';
import {
  type PaymentRefusal,
  type PayoutRefusal,
  type OriginRefusal,
  type GuardRefusal,
  type LimitRefusal,
  type NotBegun,
  type OperationDependencies,
  type Cause,
  type IdempotencyKey,
  deriveOperationToken,
} from '@tollgate/core';
import {
  type BodyOf,
  type Call,
  type ErrorDetails,
  type Route,
  type RouteKit as BasicKit,
  addRoute,
  bodySchemas,
  sendError,
} from '@tollgate/gateway-api/http';
import { sendErrors } from '@tollgate/service-kit';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseBody } from './requests.ts';

export interface RouteKit extends BasicKit {
  directory: TeamDirectory;
}

export type CallerRequest<Stated extends Route = Route> = Call<Stated> & { cause: Cause };

/** Adds a route of the contract whose handler also gets the cause of its command. */
export function addCommandRoute<Stated extends Route>(
  app: FastifyInstance,
  kit: RouteKit,
  route: Stated,
  handle: (call: CallerRequest<Stated>) => Promise<FastifyReply>,
): void {
  addRoute(app, kit, route, async (call) => {
    const actor = actorOf(call);
    // Not a copy: reading `reach` marks that the handler limits its answer.
    return handle(Object.assign(call, { cause: causeOf(call.request, actor) }));
  });
}

type BodyRoute = Route & { body: NonNullable<Route['body']> };
export type BodyRequest<Stated extends BodyRoute> = CallerRequest<Stated> & {
  body: BodyOf<Stated['body']['schema']>;
};

/** As {@link addCommandRoute}, for a body that needs no check beyond its schema. */
export function addBodyRoute<Stated extends BodyRoute>(
  app: FastifyInstance,
  kit: RouteKit,
  route: Stated,
  handle: (call: BodyRequest<Stated>) => Promise<FastifyReply>,
): void {
  const { schema, isOptional = false } = route.body;
  addCommandRoute(app, kit, route, async (call) => {
    const given = isOptional && call.request.body === undefined ? {} : call.request.body;
    const parsed = parseBody(bodySchemas[schema], given);
    if (parsed.kind === 'refused') return sendErrors(call.reply, 400, parsed.errors);
    return handle(Object.assign(call, { body: parsed.value }) as BodyRequest<Stated>);
  });
}

function actorOf({ caller: { team, keyId, operator }, request: { ip: address } }: Call): Cause['actor'] {
  if (operator === undefined) return { kind: 'team', team, keyId, address };
  const { person: name, source } = operator;
  return { kind: 'person', name, source, address };
}

function causeOf(request: FastifyRequest, actor: Cause['actor']): Cause {
  const { id: correlationId } = request;
  const traceparent = request.headers['traceparent'];
  const isTraceparent =
    typeof traceparent === 'string' &&
    /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  return { correlationId, causationId: correlationId, actor, ...(isTraceparent ? { traceparent } : {}) };
}

export type Refusal =
  | PaymentRefusal
  | PayoutRefusal
  | { code: 'recurring_token_not_found' | 'person_required' | 'operator_required' }
  | OriginRefusal
  | GuardRefusal;

/** Identifies a repeat: its key, and the token of the first request. */
export interface Repeatable {
  parameter: string;
  token?: string;
}

export const repeatableBy = (
  { installation }: Pick<OperationDependencies, 'installation'>,
  { caller, key, prefix }: { caller: Caller; key: IdempotencyKey; prefix: 'pay' | 'ref' | 'po' },
): Repeatable => ({
  parameter: key.source,
  token: deriveOperationToken(prefix, { ...caller, installation }, key),
});

const lowerAmountHint = (amountMax: number): string => (amountMax === 0 ? '' : ' Send a lower amount.');

/** Details of an answer beyond its code. */
function detailsOf(refusal: Refusal, { parameter: keyParameter, token = '' }: Repeatable): ErrorDetails {
  switch (refusal.code) {
    case 'idempotency_key_reused':
      return {
        message: `This ${keyParameter} was used for ${token} with other terms. Retrieve ${token}. Use a new key only for a separate operation.`,
        parameter: keyParameter,
      };
    case 'operation_in_progress':
      return { parameter: keyParameter };
    case 'refund_exceeds_amount': {
      const { refundableAmount, currency } = refusal;
      return {
        message: `At most ${formatAmount(refundableAmount, currency)} can be refunded now.${lowerAmountHint(refundableAmount)}`,
      };
    }
    case 'payment_disputed': {
      const { refundableAmount, currency } = refusal;
      return {
        message: `The customer's bank disputes this payment. At most ${formatAmount(refundableAmount, currency)} can be refunded now.`,
      };
    }
    case 'payout_exceeds_balance':
    case 'transfer_exceeds_balance': {
      const { availableAmount, currency } = refusal;
      const sum = formatAmount(availableAmount, currency);
      return {
        message: `The wallet has at most ${sum} at one merchant account.${lowerAmountHint(availableAmount)}`,
      };
    }
    case 'amount_limit_exceeded':
    case 'daily_limit_exceeded':
      return { message: limitText(refusal) };
    case 'origin_not_allowed': {
      const { parameter, purpose } = refusal;
      const must = `${parameter} must point to an origin that your team has allowed for ${purpose}`;
      const remedy =
        'Use an allowed origin, or ask an operator to add this one (tollgate team allow-origins).';
      return {
        message: `${must}, over https, without user name and backslash. ${remedy}`,
        parameter,
      };
    }
    case 'resolution_not_allowed':
      return { message: `The review allows these resolutions: ${refusal.allowed.join(', ')}.` };
    default:
      return {};
  }
}

function limitText({ of, operation, currency, limit, left }: LimitRefusal): string {
  const whose = of === 'team' ? "Your team's" : "This key's";
  if (left === undefined)
    return `${whose} limit for one ${operation} is ${formatAmount(limit, currency)}. Send a lower amount, or ask an operator to raise the limit.`;
  const until = new Date(left.until).toISOString();
  return `${whose} daily limit for ${operation}s is ${formatAmount(limit, currency)}, of which ${formatAmount(left.amount, currency)} are left. Retry after the day ends, at ${until}.`;
}

export const sendRefusal = (
  reply: FastifyReply,
  refusal: Refusal,
  repeatable: Repeatable = { parameter: 'Idempotency-Key' },
) => {
  const { token } = repeatable;
  const more = refusal.code === 'idempotency_key_reused' && token !== undefined ? { token } : {};
  return sendError(reply, refusal.code, detailsOf(refusal, repeatable), more);
};

/**
 * Nothing was announced and nothing was sent.
 *
 * @param parameter that the account depends on: the currency of a new payment, or the existing payment
 */
export function sendNotBegun(
  reply: FastifyReply,
  notBegun: NotBegun,
  parameter: 'currency' | 'token',
): FastifyReply {
  if (notBegun.kind === 'unavailable') {
    const { closed, retryAfterSeconds } = notBegun;
    if (closed === undefined) return sendError(reply, 'provider_unavailable', { retryAfterSeconds });
    return sendError(reply, closed === 'paused' ? 'account_paused' : 'account_draining', {
      retryAfterSeconds,
    });
  }
  if (parameter === 'currency') return sendError(reply, 'no_account', { parameter });
  const message = 'The account that took this payment is no longer configured. Contact an operator.';
  return sendError(reply, 'no_account', { message, parameter });
}
