/** The parts of the query service that its routes use. */
import type { EventStore } from '@tollgate/event-store';
import { routes, sendError, type PositionWaits } from '@tollgate/gateway-api/http';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import { type PaymentIndex } from '@tollgate/lists';
import type { Clock, Log, ReadShare } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import type { OwnViews } from './own-views.ts';

export interface ReadDependencies {
  store: EventStore;
  index: PaymentIndex;
  directory: TeamDirectory;
  log: Log;
  clock: Clock;
  own: OwnViews;
  waits: PositionWaits;
  /** Share of the event loop for long reads. */
  share: ReadShare;
}

export const mayReadPayouts = ({ scopes }: Caller): boolean =>
  routes.listPayouts.scopes.some((scope) => scopes.has(scope));

export const sendPayoutsNotAllowed = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'scope_missing', {
    message: 'This API key lacks the scope read or payouts, which a list with payouts needs.',
  });
