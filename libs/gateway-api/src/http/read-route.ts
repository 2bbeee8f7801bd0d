/** The parts of a read route that all of them share. */
import { beginning, type EventStore, type Position } from '@tollgate/event-store';
import { type Call, addRoute } from './add-route.ts';
import { type Route } from './routes.ts';
import { sendError } from './error-answers.ts';
import type { Log } from '@tollgate/service-kit';
import type { TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type PositionWaits, awaitMinPosition } from './min-position.ts';

export interface ReadRouteDependencies {
  directory: TeamDirectory;
  log: Log;
  waits: PositionWaits;
  store: Pick<EventStore, 'head'>;
}

/** Adds a route that waits until the index has reached the position that the caller sends. */
export function addReadRoute<Stated extends Route>(
  app: FastifyInstance,
  deps: ReadRouteDependencies,
  route: Stated,
  handle: (call: Call<Stated>) => Promise<unknown>,
): void {
  addRoute(app, deps, route, async (call) => {
    const { caller, request, reply } = call;
    const { minPosition } = route;
    const isCurrent = minPosition === 'current';
    const isThere =
      minPosition === undefined || (await awaitMinPosition(deps, caller, request, reply, isCurrent));
    if (isThere) await handle(call);
  });
}

export const parameterOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? '';

/**
 * Returns the position of the answer: no later read that waits for it shows less, at any instance. The front door makes reads
 * of the same key
 * wait for it.
 */
export function tellPosition(reply: FastifyReply, shown: readonly { position: Position }[]): void {
  let latest = beginning;
  for (const { position } of shown) if (position > latest) latest = position;
  if (latest !== beginning) reply.header('tollgate-position', latest);
}

/** Answers for a page that a list refuses. */
export const sendRefusedPage = (reply: FastifyReply, parameter: keyof typeof refusedPages): FastifyReply =>
  sendError(reply, 'invalid_param', { message: refusedPages[parameter], parameter });

const refusedPages = {
  cursor: 'cursor is not a nextCursor of this list.',
  withTotal: 'withTotal would count too many rows with these filters. Omit it.',
};
