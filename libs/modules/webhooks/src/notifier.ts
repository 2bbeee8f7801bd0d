/**
 * Sends teams webhooks about their payments and payouts: follows the events, records the due webhooks, and delivers them
 * until the team accepts. Both halves resume where an earlier run stopped. Two processes at once lose nothing; a team may
 * then get a webhook twice, with the same id.
 */
import { createFollower } from '@tollgate/event-store';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { createAddressGuard, createResolve, type Resolve } from './address-guard.ts';
import { type DeliveryRouteDependencies, registerDeliveryRoutes } from './delivery-routes.ts';
import { type DispatcherDependencies, dispatchWebhooks } from './dispatcher.ts';
import { type DueRecorderDependencies, recordDueWebhooks } from './due-recorder.ts';
import { createEndpointBook } from './endpoints/endpoint-book.ts';
import { type EndpointRouteDependencies, registerEndpointRoutes } from './endpoints/endpoint-routes.ts';
import { limitsDefault } from './fair-queue.ts';
import { type WebhookClient, createWebhookClient } from './http-client.ts';
import { createWebhookJournal } from './webhook-journal.ts';

export interface NotifierDependencies extends Omit<
  DispatcherDependencies & DueRecorderDependencies,
  'journal' | 'book' | 'guard' | 'client'
> {
  /** A certificate authority (PEM) to trust in addition to the public ones. */
  trustedCa?: string;
  /** Our own networks (CIDR) with receivers of teams; by default only public addresses are called. */
  allowedNetworks?: readonly string[];
  /** Resolves names. @default the system's name servers */
  resolve?: Resolve;
  /** Replaces its HTTPS connections, in the simulation. */
  client?: WebhookClient;
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

export type NotifierRouteDependencies = Omit<
  EndpointRouteDependencies & DeliveryRouteDependencies,
  'journal' | 'book'
>;

export function registerNotifierRoutes(app: FastifyInstance, deps: NotifierRouteDependencies): void {
  const parts = { ...deps, journal: createWebhookJournal(deps), book: createEndpointBook(deps) };
  registerEndpointRoutes(app, parts);
  registerDeliveryRoutes(app, parts);
}
