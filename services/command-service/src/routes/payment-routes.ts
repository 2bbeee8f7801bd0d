/** The routes that create payments and end two-step ones: parse, call, map the answer. */
import { sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type CreatePaymentDependencies, createPayment } from '../operations/create-payment.ts';
import { type EndCaptureOrVoidDependencies, endCaptureOrVoid } from '../operations/capture-or-void.ts';
import { sendAnswer, toCreationAnswer, toCaptureOrVoidAnswer } from './answers.ts';
import { parseIdempotencyKey } from './idempotency-key.ts';
import { parsePaymentName, parsePaymentRequest } from './payment-request.ts';
import { type CallerRequest, type RouteKit, addRoute, sendNotBegun, sendRefusal } from './route-kit.ts';

export type PaymentRouteDependencies = RouteKit & CreatePaymentDependencies & EndCaptureOrVoidDependencies;

export function registerPaymentRoutes(app: FastifyInstance, deps: PaymentRouteDependencies): void {
  addRoute(app, deps, { method: 'POST', url: '/api/v1/payments', scope: 'payments' }, (call) =>
    postPayment(deps, call),
  );
  for (const operation of ['confirm', 'decline'] as const) {
    const url = `/api/v1/payments/${operation}`;
    addRoute(app, deps, { method: 'POST', url, scope: 'payments' }, (call) =>
      postCaptureOrVoid(deps, operation, call),
    );
  }
}

async function postPayment(
  deps: PaymentRouteDependencies,
  { caller, cause, request, reply }: CallerRequest,
): Promise<FastifyReply> {
  const parsed = parsePaymentRequest(request.body, caller);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
  const key = parseIdempotencyKey(request.headers['idempotency-key'], parsed.value.orderNumber);
  if (key.kind === 'refused') return sendErrors(reply, 400, key.errors);
  const input = { caller, key: key.value, request: parsed.value, cause };
  const result = await createPayment(deps, input);
  if (result.kind === 'refused') return sendRefusal(reply, result.refusal, key.value.source);
  if (result.kind !== 'answered') return sendNotBegun(reply, result, 'currency');
  const { view, replayed } = result;
  return sendAnswer(reply, toCreationAnswer(view), { position: view.position, replayed });
}

async function postCaptureOrVoid(
  deps: PaymentRouteDependencies,
  operation: 'confirm' | 'decline',
  { caller, cause, request, reply }: CallerRequest,
): Promise<FastifyReply> {
  const parsed = parsePaymentName(request.body);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
  const result = await endCaptureOrVoid(deps, { caller, operation, token: parsed.value.token, cause });
  if (result.kind === 'refused') return sendRefusal(reply, result.refusal, 'token');
  if (result.kind !== 'answered') return sendNotBegun(reply, result, 'token');
  const { view, replayed } = result;
  return sendAnswer(reply, toCaptureOrVoidAnswer(view, operation), { position: view.position, replayed });
}
