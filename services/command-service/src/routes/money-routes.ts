/** The routes of refunds, payouts and the balance. */
import { toPublicPayout } from '@tollgate/gateway-api';
import { routes, sendError } from '@tollgate/gateway-api/http';
import { sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Balances } from '@tollgate/wallets';
import {
  type CreatePayoutDependencies,
  createPayout,
  type RefundPaymentDependencies,
  refundPayment,
} from '@tollgate/core';
import {
  type DecidePayoutDependencies,
  type DecidePayoutInput,
  checkPayoutDestination,
  decidePayoutApproval,
} from '@tollgate/approvals';
import { sendAnswer, toPayoutAnswer, toRefundAnswer, toRefusedAnswer } from './answers.ts';
import { parseIdempotencyKey, parsePayoutRequest, parseRefundRequest } from './requests.ts';
import {
  type BodyRequest,
  type CallerRequest,
  type RouteKit,
  addBodyRoute,
  addCommandRoute,
  repeatableBy,
  sendNotBegun,
  sendRefusal,
} from './route-kit.ts';

export type MoneyRouteDependencies = RouteKit &
  RefundPaymentDependencies &
  CreatePayoutDependencies &
  DecidePayoutDependencies & { balances: Balances };

export function registerMoneyRoutes(app: FastifyInstance, deps: MoneyRouteDependencies): void {
  addCommandRoute(app, deps, routes.refundPayment, (call) => postRefund(deps, call));
  addCommandRoute(app, deps, routes.createPayout, (call) => postPayout(deps, call));
  addCommandRoute(app, deps, routes.approvePayout, (call) => postDecision(deps, call, { kind: 'approve' }));
  addBodyRoute(app, deps, routes.refusePayout, (call) =>
    postDecision(deps, call, { kind: 'refuse', ...call.body }),
  );
  addBodyRoute(app, deps, routes.checkPayoutDestination, (call) => postDestination(deps, call));
  addCommandRoute(app, deps, routes.retrieveBalance, (call) => getBalance(deps, call));
}

async function postRefund(
  deps: MoneyRouteDependencies,
  { caller, cause, request, reply }: CallerRequest,
): Promise<FastifyReply> {
  const parsed = parseRefundRequest(request.body);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
  // Two refunds of one amount are an everyday thing: only a key distinguishes a replay from another one.
  const key = parseIdempotencyKey(request.headers['idempotency-key'], undefined);
  if (key.kind === 'refused') return sendErrors(reply, 400, key.errors);
  const result = await refundPayment(deps, { caller, key: key.value, request: parsed.value, cause });
  if (result.kind === 'refused')
    return sendRefusal(reply, result.refusal, repeatableBy(deps, { caller, key: key.value, prefix: 'ref' }));
  if (result.kind !== 'answered') return sendNotBegun(reply, result, 'token');
  const { position } = result.aggregate.aggregate;
  return sendAnswer(reply, toRefundAnswer(result.aggregate), { position, replayed: result.replayed });
}

async function postPayout(
  deps: MoneyRouteDependencies,
  { caller, cause, request, reply }: CallerRequest,
): Promise<FastifyReply> {
  const parsed = parsePayoutRequest(request.body, caller);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
  const key = parseIdempotencyKey(request.headers['idempotency-key'], parsed.value.orderNumber);
  if (key.kind === 'refused') return sendErrors(reply, 400, key.errors);
  const result = await createPayout(deps, { caller, key: key.value, request: parsed.value, cause });
  if (result.kind === 'refused')
    return sendRefusal(reply, result.refusal, repeatableBy(deps, { caller, key: key.value, prefix: 'po' }));
  if (result.kind !== 'answered') return sendNotBegun(reply, result, 'currency');
  const { aggregate, replayed } = result;
  return sendAnswer(reply, toPayoutAnswer(aggregate), { position: aggregate.position, replayed });
}

async function postDecision(
  deps: MoneyRouteDependencies,
  { caller, cause, request, reply }: CallerRequest,
  decision: DecidePayoutInput['decision'],
): Promise<FastifyReply> {
  const { token } = request.params as { token: string };
  const result = await decidePayoutApproval(deps, { caller, token, decision, cause });
  if (result.kind === 'refused') return sendRefusal(reply, result.refusal);
  const { aggregate } = result;
  const body = { success: true, token, payout: toPublicPayout(aggregate) };
  return sendAnswer(reply, { statusCode: 200, body }, { position: aggregate.position, replayed: false });
}

async function postDestination(
  deps: MoneyRouteDependencies,
  { caller, cause, body, request, reply }: BodyRequest<typeof routes.checkPayoutDestination>,
): Promise<FastifyReply> {
  const { token } = request.params as { token: string };
  const result = await checkPayoutDestination(deps, { caller, token, cause, ...body });
  if (result.kind === 'refused') return sendRefusal(reply, result.refusal);
  if (result.isSame !== undefined) return reply.send({ success: true, isSame: result.isSame });
  const message = 'This payout goes to a card or a recurring token. Only bank accounts can be compared.';
  return sendError(reply, 'invalid_param', { message, parameter: 'account' });
}

async function getBalance(
  deps: MoneyRouteDependencies,
  { caller, query: { currency }, reply }: CallerRequest<typeof routes.retrieveBalance>,
): Promise<FastifyReply> {
  const result = await deps.balances.read(caller, currency);
  if (result.kind === 'no-account') return sendNotBegun(reply, result, 'currency');
  if (result.kind === 'refused') {
    const { statusCode, body } = toRefusedAnswer(result.errors);
    return reply.code(statusCode).send(body);
  }
  if (result.kind === 'balance') {
    const { available, hold } = result.balance;
    if (![available, hold].every(Number.isSafeInteger)) return sendError(reply, 'sum_too_large');
    return reply.send({ success: true, wallet: result.balance });
  }
  const message = 'The Payment Service gave no usable answer. Repeat the request later.';
  return sendError(reply, 'provider_unavailable', { message });
}
