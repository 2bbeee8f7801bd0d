/** All routes that the notifier answers. */
import type { EventStore } from '@tollgate/event-store';
import type { Clock, Ids, Log, WebhookMasterSecret } from '@tollgate/service-kit';
import type { SecurityWatch, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import type { Deliveries } from './deliveries.ts';
import { registerDeliveryRoutes } from './delivery-routes.ts';
import { createEndpointBook } from './endpoints/endpoint-book.ts';
import { registerEndpointRoutes } from './endpoints/endpoint-routes.ts';
import { createWebhookJournal } from './webhook-journal.ts';

export interface NotifierRouteDependencies {
  store: EventStore;
  directory: TeamDirectory;
  /** The master secrets from which those of endpoints derive. */
  secrets: readonly WebhookMasterSecret[];
  deliveries: Pick<Deliveries, 'read'>;
  recordCommand?: SecurityWatch['recordCommand'];
  clock: Clock;
  ids: Ids;
  log: Log;
}

export function registerNotifierRoutes(app: FastifyInstance, deps: NotifierRouteDependencies): void {
  const parts = { ...deps, journal: createWebhookJournal(deps), book: createEndpointBook(deps) };
  registerEndpointRoutes(app, parts);
  registerDeliveryRoutes(app, parts);
}
