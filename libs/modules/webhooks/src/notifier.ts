/**
 * Sends teams webhooks about their payments and payouts: follows the events, records the due webhooks, and delivers them
 * until the team accepts. Both halves resume where an earlier run stopped. Two processes at once lose nothing; a team may
 * then get a webhook twice, with the same id.
 */
import { createFollower, type EventStore } from '@tollgate/event-store';
import {
  omitUndefined,
  type Clock,
  type Ids,
  type Log,
  type WebhookMasterSecret,
} from '@tollgate/service-kit';
import { createAddressGuard, createResolve, type Resolve } from './address-guard.ts';
import type { Deliveries } from './deliveries.ts';
import { dispatchWebhooks } from './dispatcher.ts';
import { recordDueWebhooks } from './due-recorder.ts';
import { type WebhookClient, createWebhookClient } from './http-client.ts';
import type { EndpointCount } from './endpoints/endpoint-directory.ts';
import { createEndpointBook } from './endpoints/endpoint-book.ts';
import { createWebhookJournal } from './webhook-journal.ts';
import { limitsDefault, type Limits } from './fair-queue.ts';
import type { SecurityWatch, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import { registerDeliveryRoutes } from './delivery-routes.ts';
import { registerEndpointRoutes } from './endpoints/endpoint-routes.ts';

export interface NotifierDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The master secrets from which the teams' secrets derive: one, or two during a rotation. */
  secrets: readonly WebhookMasterSecret[];
  /** Names of the team's current secrets for callback URLs, the newest first. @default the initial secret */
  secretVersionsOf?: (team: string, environment: string) => readonly string[];
  /** True if the team allows the origin of the URL; checked at every attempt. */
  isCallbackAllowed: (team: string, url: string) => boolean;
  /** A certificate authority (PEM) to trust in addition to the public ones. */
  trustedCa?: string;
  /** Our own networks (CIDR) with receivers of teams; by default only public addresses are called. */
  allowedNetworks?: readonly string[];
  /** Resolves names. @default the system's name servers */
  resolve?: Resolve;
  limits?: Limits;
  /** Receives a function that counts the standing endpoints, each time that recording begins. */
  onEndpoints?: (count: () => EndpointCount) => void;
  /** Replaces its HTTPS connections, in the simulation. */
  client?: WebhookClient;
  deliveries: Pick<Deliveries, 'open'>;
}

/** Runs until the signal is aborted. Never rejects: a failure is logged, and the work begins again. */
export async function runNotifier(deps: NotifierDependencies, signal: AbortSignal): Promise<void> {
  const { resolve = createResolve(), trustedCa, limits = limitsDefault } = deps;
  const guard = createAddressGuard(resolve, deps.allowedNetworks);
  const { lookup } = guard;
  const connectionsPerOrigin = limits.perOrigin;
  const client =
    deps.client ?? createWebhookClient({ lookup, connectionsPerOrigin, ...omitUndefined({ trustedCa }) });
  const journal = createWebhookJournal(deps);
  const parts = { ...deps, limits, journal, book: createEndpointBook(deps), client, guard };
  const recording = createFollower({ ...deps, name: 'record-webhooks' }, (running, gotOn) =>
    recordDueWebhooks(parts, running, gotOn),
  );
  const delivering = createFollower({ ...deps, name: 'deliver-webhooks' }, (running, gotOn) =>
    dispatchWebhooks(parts, running, gotOn),
  );
  try {
    await Promise.all([recording.run(signal), delivering.run(signal)]);
  } finally {
    await client.close();
  }
}

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
