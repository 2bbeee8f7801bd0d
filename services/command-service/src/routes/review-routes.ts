/** The route by which a person resolves a review. */
import { resolutionRequestSchema, routes, sendError } from '@tollgate/gateway-api/http';
import { sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  type ResolveReviewDependencies,
  resolveReview,
  isToken,
  type AnySubject,
  type UnmatchedAggregate,
} from '@tollgate/core';
import { toPublicPayment, toPublicPayout } from '@tollgate/gateway-api';
import { sendAnswer } from './answers.ts';
import { parseBody } from './parsed.ts';
import { type CallerRequest, type RouteKit, addCommandRoute, sendRefusal } from './route-kit.ts';

export type ReviewRouteDependencies = RouteKit & ResolveReviewDependencies;

export function registerReviewRoutes(app: FastifyInstance, deps: ReviewRouteDependencies): void {
  addCommandRoute(app, deps, routes.resolveReview, (call) => postResolution(deps, call));
}

async function postResolution(
  deps: ReviewRouteDependencies,
  { caller, cause, request, reply }: CallerRequest,
): Promise<FastifyReply> {
  const { token } = request.params as { token: string };
  if (!isToken(token)) return sendRefusal(reply, { code: 'payment_not_found' });
  const parsed = parseBody(resolutionRequestSchema, request.body);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
  // The only answer that moves no money and frees none.
  if (!caller.scopes.has('admin') && parsed.value.resolution !== 'check_again')
    return sendError(reply, 'scope_missing', {
      message: 'Your role may answer a review with check_again only. Ask an operator.',
      parameter: 'resolution',
    });
  const result = await resolveReview(deps, { caller, cause, token, ...parsed.value });
  if (result.kind === 'refused') return sendRefusal(reply, result.refusal);
  const { kind, aggregate } = result;
  return sendAnswer(
    reply,
    { statusCode: kind === 'proposed' ? 202 : 200, body: { success: true, token, ...toShown(aggregate) } },
    { position: aggregate.position, replayed: false },
  );
}

function toShown(aggregate: AnySubject | UnmatchedAggregate) {
  if ('unmatched' in aggregate) return {};
  return 'payment' in aggregate
    ? { payment: toPublicPayment(aggregate) }
    : { payout: toPublicPayout(aggregate) };
}
