/** The services of a process, in the order of their start. Each depends on earlier ones only. */
import type { Parts } from './composition/parts.ts';
import { startCallbackIngester } from './composition/services/callback-ingester.ts';
import { startCommandService } from './composition/services/command-service.ts';
import { startEventPublisher, startProjector } from './composition/services/followers.ts';
import { startFrontDoor } from './composition/services/front-door.ts';
import { startNotifier } from './composition/services/notifier.ts';
import { startQueryService } from './composition/services/query-service.ts';
import type { ServiceName } from './configuration/service-names.ts';

export async function compose(parts: Parts) {
  const { runs } = parts;
  // Callbacks of the Payment Service, into the bus.
  const ingester = runs('callback-ingester') ? await startCallbackIngester(parts) : undefined;
  const callbackUrl = ingester?.url;
  // Views and topics, from the events: on a thread of their own, if this process has one.
  const thread = await parts.followerThread();
  const isFollowing = (service: ServiceName) => thread === undefined && runs(service);
  const projector = isFollowing('projector') ? await startProjector(parts) : undefined;
  const publisher = isFollowing('event-publisher') ? await startEventPublisher(parts) : undefined;
  // Commands: payments, payouts, disputes, inquiries, reconciliations. Only this one calls the Payment Service.
  const commands = runs('command-service') ? await startCommandService(parts, { callbackUrl }) : undefined;
  // Reads: lists, totals, the feed of events, from a local index.
  const queries = runs('query-service') ? await startQueryService(parts) : undefined;
  // Webhooks to teams.
  const notifier = runs('notifier') ? await startNotifier(parts) : undefined;
  // The front door: documentation, console, and routes of services in other processes.
  const frontDoor = runs('api') ? await startFrontDoor(parts) : undefined;
  const all = [ingester, thread?.running, projector, publisher, commands, queries, notifier, frontDoor];
  return { running: all.filter((service) => service !== undefined), callbackUrl };
}
