/** The route by which a person tells what has become of something that waits for one. */
import { sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type ResolveReviewDependencies, resolveReview } from '../operations/resolve-review.ts';
import { isToken } from '@tollgate/teams';
import { sendAnswer } from './answers.ts';
import { parseResolution } from './review-request.ts';
import { type CallerRequest, type RouteKit, addRoute, sendRefusal } from './route-kit.ts';

export type ReviewRouteDependencies = RouteKit & ResolveReviewDependencies;

export function registerReviewRoutes(app: FastifyInstance, deps: ReviewRouteDependencies): void {
  const url = '/api/v1/reviews/:token/resolve';
  addRoute(app, deps, { method: 'POST', url, scope: 'admin' }, (call) => postResolution(deps, call));
}

async function postResolution(
  deps: ReviewRouteDependencies,
  { caller, cause, request, reply }: CallerRequest,
): Promise<FastifyReply> {
  const { token } = request.params as { token: string };
  if (!isToken(token)) return sendRefusal(reply, { code: 'payment_not_found' });
  const parsed = parseResolution(request.body);
  if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
  const result = await resolveReview(deps, { caller, cause, token, ...parsed.value });
  if (result.kind === 'refused') return sendRefusal(reply, result.refusal);
  const { position, shown } = result;
  return sendAnswer(
    reply,
    { statusCode: 200, body: { success: true, token, ...shown } },
    { position, replayed: false },
  );
}
