/** The route by which a person resolves a review. */
import { routes, sendError } from '@tollgate/gateway-api/http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type AnySubject, isToken, resolveReview } from '@tollgate/core';
import { toPublicPayment, toPublicPayout } from '@tollgate/gateway-api';
import { sendAnswer } from './answers.ts';
import { type BodyRequest, type RouteKit, addBodyRoute, sendRefusal } from './route-kit.ts';
import { type UnmatchedAggregate, isUnmatchedToken, resolveUnmatchedReview } from '@tollgate/books';

export type ReviewRouteDependencies = RouteKit &
  Parameters<typeof resolveReview>[0] &
  Parameters<typeof resolveUnmatchedReview>[0];

export function registerReviewRoutes(app: FastifyInstance, deps: ReviewRouteDependencies): void {
  addBodyRoute(app, deps, routes.resolveReview, (call) => postResolution(deps, call));
}

async function postResolution(
  deps: ReviewRouteDependencies,
  { caller, cause, body, request, reply }: BodyRequest<typeof routes.resolveReview>,
): Promise<FastifyReply> {
  const { token } = request.params as { token: string };
  if (!isToken(token)) return sendRefusal(reply, { code: 'payment_not_found' });
  // The only answer that moves no money and frees none.
  if (!caller.scopes.has('admin') && body.resolution !== 'check_again')
    return sendError(reply, 'scope_missing', {
      message: 'Your role may answer a review with check_again only. Ask an operator.',
      parameter: 'resolution',
    });
  const resolve = isUnmatchedToken(token) ? resolveUnmatchedReview : resolveReview;
  const result = await resolve(deps, { caller, cause, token, ...body });
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
