/** What the routes of webhook endpoints have in common. */
import type { PublicWebhookEndpoint } from '@tollgate/gateway-api';
import { toIso } from '@tollgate/gateway-api';
import { addRoute, sendError, type Call, type Route } from '@tollgate/gateway-api/http';
import type { Actor } from '@tollgate/payment-domain';
import {
  omitUndefined,
  type Clock,
  type Ids,
  type Log,
  type WebhookMasterSecret,
} from '@tollgate/service-kit';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebhookJournal } from '../webhook-journal.ts';
import type { DeliveryList } from './delivery-list.ts';
import type { EndpointBook } from './endpoint-book.ts';
import type { EndpointOwner } from './endpoint-events.ts';
import type { Endpoint } from './endpoint.ts';

export interface EndpointRouteDependencies {
  book: EndpointBook;
  journal: WebhookJournal;
  deliveries: Pick<DeliveryList, 'rows'>;
  directory: TeamDirectory;
  secrets: readonly WebhookMasterSecret[];
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** A call about an endpoint of the caller's own. */
export interface EndpointCall<Stated extends Route = Route> extends Call<Stated> {
  owner: EndpointOwner;
  endpoint: Endpoint;
}

export const ownerOf = ({ environment, team }: Caller): EndpointOwner => ({ environment, team });
export const actorOf = ({ team, keyId }: Caller): Actor => ({ kind: 'team', team, keyId });
export const parameterOf = ({ params }: FastifyRequest, name: string): string =>
  (params as Record<string, string>)[name] ?? '';

/** 404 for an endpoint of another team. */
export function addEndpointRoute<Stated extends Route>(
  app: FastifyInstance,
  deps: EndpointRouteDependencies,
  route: Stated,
  handle: (call: EndpointCall<Stated>) => Promise<FastifyReply>,
): void {
  addRoute(app, deps, route, async (call) => {
    const owner = ownerOf(call.caller);
    const endpoint = await deps.book.find(owner, parameterOf(call.request, 'id'));
    if (endpoint === undefined) return sendError(call.reply, 'webhook_endpoint_not_found');
    return handle({ ...call, owner, endpoint });
  });
}

export function toPublicEndpoint({ environment }: EndpointOwner, endpoint: Endpoint): PublicWebhookEndpoint {
  const { id, url, events, description, disabled, formerSecrets, createdAt } = endpoint;
  const formerUntil = formerSecrets[0]?.until;
  return {
    ...{ id, environment, url, events: [...events], ...omitUndefined({ description }) },
    status: disabled === undefined ? 'enabled' : 'disabled',
    ...(disabled === undefined ? {} : { disabledReason: disabled.reason, disabledAt: toIso(disabled.at) }),
    ...(formerUntil === undefined ? {} : { formerSecretUntil: toIso(formerUntil) }),
    createdAt: toIso(createdAt),
  };
}
