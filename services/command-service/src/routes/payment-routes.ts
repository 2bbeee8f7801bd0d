/** The routes that create payments and end two-step ones: parse, call, map the answer. */
import { routes, sendError } from '@tollgate/gateway-api/http';
import { sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  type CreatePaymentDependencies,
  createPayment,
  type CaptureOrVoidDependencies,
  captureOrVoid,
} from '@tollgate/core';
import { sendAnswer, toCreationAnswer, toCaptureOrVoidAnswer } from './answers.ts';
import { parseIdempotencyKey, parsePaymentRequest } from './requests.ts';
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

export type PaymentRouteDependencies = RouteKit & CreatePaymentDependencies & CaptureOrVoidDependencies;

export function registerPaymentRoutes(app: FastifyInstance, deps: PaymentRouteDependencies): void {
  addCommandRoute(app, deps, routes.createPayment, (call) => postPayment(deps, call));
  addBodyRoute(app, deps, routes.confirmPayment, (call) => postCaptureOrVoid(deps, 'confirm', call));
  addBodyRoute(app, deps, routes.declinePayment, (call) => postCaptureOrVoid(deps, 'decline', call));
}

async function postPayment(
  deps: PaymentRouteDependencies,
  { caller, cause, request, reply }: CallerRequest,
): Promise<FastifyReply> {
  const parsed = parsePaymentRequest(request.body, caller);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
  if (parsed.value.recurringToken !== undefined && !caller.scopes.has('stored-cards'))
    return sendError(reply, 'scope_missing', {
      message: 'A stored card is charged with the scope stored-cards only. Nothing was sent.',
      parameter: 'recurringToken',
    });
  const key = parseIdempotencyKey(request.headers['idempotency-key'], parsed.value.orderNumber);
  if (key.kind === 'refused') return sendErrors(reply, 400, key.errors);
  const input = { caller, key: key.value, request: parsed.value, cause };
  const result = await createPayment(deps, input);
  if (result.kind === 'refused')
    return sendRefusal(reply, result.refusal, repeatableBy(deps, { caller, key: key.value, prefix: 'pay' }));
  if (result.kind !== 'answered') return sendNotBegun(reply, result, 'currency');
  const { aggregate, replayed } = result;
  return sendAnswer(reply, toCreationAnswer(aggregate), { position: aggregate.position, replayed });
}

const ours = { confirm: 'capture', decline: 'void' } as const;

async function postCaptureOrVoid(
  deps: PaymentRouteDependencies,
  operation: 'confirm' | 'decline',
  { caller, cause, body: { token }, reply }: BodyRequest<typeof routes.confirmPayment>,
): Promise<FastifyReply> {
  const result = await captureOrVoid(deps, { caller, operation: ours[operation], token, cause });
  if (result.kind === 'refused') return sendRefusal(reply, result.refusal, { parameter: 'token' });
  if (result.kind !== 'answered') return sendNotBegun(reply, result, 'token');
  const { aggregate, replayed } = result;
  const { position } = aggregate;
  return sendAnswer(reply, toCaptureOrVoidAnswer(aggregate, operation), { position, replayed });
}
