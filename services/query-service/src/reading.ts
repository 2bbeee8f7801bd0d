/** What the routes of the read side have in common. */
import { beginning, type EventStore } from '@tollgate/event-store';
import { type Call, type Route, addRoute, routes, sendError } from '@tollgate/gateway-api/http';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import { type PaymentIndex } from '@tollgate/view-index';
import type { Clock, Log } from '@tollgate/service-kit';
import type { ViewEnvelope } from '@tollgate/views';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { awaitMinPosition, type PositionWaits } from './min-position.ts';
import type { OwnViews } from './own-views.ts';
import type { ReadShare } from './read-share.ts';

export interface ReadDependencies {
  store: EventStore;
  index: PaymentIndex;
  directory: TeamDirectory;
  log: Log;
  clock: Clock;
  own: OwnViews;
  waits: PositionWaits;
  /** What long reads take of the event loop together. */
  share: ReadShare;
}

/** Adds a route that waits until the index has reached the position that the caller sends. */
export function addReadRoute<Stated extends Route>(
  app: FastifyInstance,
  deps: Pick<ReadDependencies, 'directory' | 'log' | 'waits'> & { store: Pick<EventStore, 'head'> },
  route: Stated,
  handle: (call: Call<Stated>) => Promise<unknown>,
): void {
  addRoute(app, deps, route, async (call) => {
    const { caller, request, reply } = call;
    const isThere = route.minPosition !== true || (await awaitMinPosition(deps, caller, request, reply));
    if (isThere) await handle(call);
  });
}

export const mayReadPayouts = ({ scopes }: Caller): boolean =>
  routes.listPayouts.scopes.some((scope) => scopes.has(scope));

export const parameterOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? '';

/**
 * Says up to where the answer goes: no later read that waits for that position shows less, whichever instance answers it.
 * The front door has those of the same key wait for it.
 */
export function tellPosition(reply: FastifyReply, shown: readonly Pick<ViewEnvelope, 'position'>[]): void {
  let latest = beginning;
  for (const { position } of shown) if (position > latest) latest = position;
  if (latest !== beginning) reply.header('tollgate-position', latest);
}

/** Answers for a page that a list refuses. */
export const sendRefusedPage = (reply: FastifyReply, parameter: keyof typeof refusedPages): FastifyReply =>
  sendError(reply, 'invalid_param', { message: refusedPages[parameter], parameter });

const refusedPages = {
  cursor: 'cursor is not one that this list of yours has given as nextCursor.',
  page: 'page leads past more rows than a request may visit: leave page out and follow nextCursor.',
  withTotal: 'withTotal would count too many rows under these filters: leave it out.',
  perPage:
    'perPage makes this page larger than 1 MB: ask for fewer, or leave page out and follow nextCursor.',
};

export const sendPayoutsNotAllowed = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'scope_missing', {
    message: 'This API key lacks the scope read or payouts, which a list with payouts needs.',
  });
