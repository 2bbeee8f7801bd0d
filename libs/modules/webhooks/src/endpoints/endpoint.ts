/**
 * The webhook endpoints of a team in one environment (stream `endpoints-<environment>.<team>`): events, state and decisions.
 * Pure.
 */
import { type Decision, type EventOf, eventFamily } from '@tollgate/event-store';
import {
  everyWebhookEvent,
  type PublicWebhookEndpoint,
  type WebhookBody,
  endpointDisabledReasons,
} from '@tollgate/gateway-api';
import { InvariantViolation, environmentSchema } from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import { z } from 'zod';

const instantSchema = z.int().min(0);
const idSchema = z.string();
const ofEndpoint = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ id: idSchema, at: instantSchema, ...shape });

const endpointEventSchemas = {
  EndpointAdded: ofEndpoint({
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().exactOptional(),
  }),
  EndpointChanged: ofEndpoint({
    url: z.string().exactOptional(),
    events: z.array(z.string()).exactOptional(),
    /** The empty text removes it. */
    description: z.string().exactOptional(),
  }),
  EndpointEnabled: ofEndpoint({}),
  /** `webhook` is the one whose outcome caused it. */
  EndpointDisabled: ofEndpoint({
    reason: z.enum(endpointDisabledReasons),
    webhook: z.string().exactOptional(),
  }),
  EndpointSecretRotated: ofEndpoint({ formerUntil: instantSchema }),
  EndpointRemoved: ofEndpoint({}),
} as const;

export type EndpointEvent = EventOf<typeof endpointEventSchemas>;
export const { decode: decodeEndpointEvent, versionOf: versionOfEndpointEvent } =
  eventFamily(endpointEventSchemas);

const ownerSchema = z.object({ environment: environmentSchema, team: z.string() });
export type EndpointOwner = z.infer<typeof ownerSchema>;

export const endpointStreamPrefix = 'endpoints-';
/** A team's name has no full stop. */
export const endpointStream = ({ environment, team }: EndpointOwner): string =>
  `${endpointStreamPrefix}${environment}.${team}`;

/** @throws z.ZodError for another kind of stream */
export function ownerOfEndpointStream(stream: string): EndpointOwner {
  const [environment, team] = stream.slice(endpointStreamPrefix.length).split('.');
  return ownerSchema.parse({ environment, team });
}

/** Maximum endpoints of a team per environment. */
export const endpointsMax = 20;
/** Maximum changes by the team in total: the stream is read with each one. */
export const endpointChangesMax = 5_000;

type DisabledReason = NonNullable<PublicWebhookEndpoint['disabledReason']>;

export interface Endpoint {
  id: string;
  url: string;
  events: readonly string[];
  description?: string;
  createdAt: number;
  /** Absent while it is enabled. */
  disabled?: { reason: DisabledReason; at: number };
  /** When it was last enabled, or got its URL: earlier attempts do not count against it. */
  currentSince: number;
  /** Number of its secrets. */
  secret: number;
  /** Earlier ones that may still sign, latest first. */
  formerSecrets: readonly FormerSecret[];
}

interface FormerSecret {
  secret: number;
  /** It signs until then; milliseconds since the Unix epoch. */
  until: number;
}

/** Each signs every webhook. */
const formerSecretsMax = 4;

export interface Endpoints {
  endpoints: readonly Endpoint[];
  changes: number;
}
export const noEndpoints: Endpoints = { endpoints: [], changes: 0 };

export type EndpointCommand =
  | { type: 'Add'; id: string; url: string; events: readonly string[]; description?: string; at: number }
  | { type: 'Change'; id: string; to: EndpointChange; at: number }
  | { type: 'Disable'; id: string; reason: 'gone' | 'given_up'; webhook: string; triedAt: number; at: number }
  | { type: 'RotateSecret'; id: string; formerUntil: number; at: number }
  | { type: 'Remove'; id: string; at: number };

/** Absent fields are unchanged. */
interface EndpointChange {
  url?: string | undefined;
  events?: readonly string[] | undefined;
  description?: string | undefined;
  status?: 'enabled' | 'disabled' | undefined;
}

export interface EndpointRefusal {
  code:
    | 'webhook_endpoint_not_found'
    | 'webhook_endpoint_exists'
    | 'too_many_webhook_endpoints'
    | 'too_many_endpoint_changes';
}

type EndpointDecision = Decision<EndpointEvent, EndpointRefusal>;
const refuse = (code: EndpointRefusal['code']): EndpointDecision => ({ kind: 'refused', refusal: { code } });
const events = (...decided: EndpointEvent[]): EndpointDecision => ({ kind: 'events', events: decided });

export function decideEndpoints(state: Endpoints, command: EndpointCommand): EndpointDecision {
  const known = state.endpoints.find(({ id }) => id === command.id);
  if (command.type === 'Disable') {
    const { id, at, reason, webhook, triedAt } = command;
    const isOver = known === undefined || known.disabled !== undefined || triedAt < known.currentSince;
    return isOver ? events() : events({ type: 'EndpointDisabled', data: { id, at, reason, webhook } });
  }
  if (state.changes >= endpointChangesMax && command.type !== 'Remove')
    return refuse('too_many_endpoint_changes');
  if (command.type === 'Add') return add(state, command);
  if (known === undefined) return refuse('webhook_endpoint_not_found');
  const { id, at } = command;
  switch (command.type) {
    case 'Change':
      return change(state, known, command);
    case 'RotateSecret': {
      const { formerUntil } = command;
      return events({ type: 'EndpointSecretRotated', data: { id, at, formerUntil } });
    }
    case 'Remove':
      return events({ type: 'EndpointRemoved', data: { id, at } });
  }
}

function add({ endpoints }: Endpoints, command: EndpointCommand & { type: 'Add' }): EndpointDecision {
  const { type: _, events: asked, ...data } = command;
  // A repeat after a lost answer gets this refusal: nothing is delivered twice.
  if (endpoints.some(({ url }) => url === command.url)) return refuse('webhook_endpoint_exists');
  if (endpoints.length >= endpointsMax) return refuse('too_many_webhook_endpoints');
  return events({ type: 'EndpointAdded', data: { ...data, events: [...asked] } });
}

function change(
  { endpoints }: Endpoints,
  known: Endpoint,
  { id, at, to }: EndpointCommand & { type: 'Change' },
): EndpointDecision {
  const { status, url, description } = to;
  if (endpoints.some((each) => each.id !== id && each.url === url)) return refuse('webhook_endpoint_exists');
  const asked = omitUndefined({ url, description, events: to.events && [...to.events] });
  const isChanged = Object.entries(asked).some(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(known[name as keyof Endpoint] ?? ''),
  );
  const wasEnabled = known.disabled === undefined;
  return events(
    ...(isChanged ? [{ type: 'EndpointChanged' as const, data: { id, at, ...asked } }] : []),
    ...(status === 'enabled' && !wasEnabled ? [{ type: 'EndpointEnabled' as const, data: { id, at } }] : []),
    ...(status === 'disabled' && wasEnabled
      ? [{ type: 'EndpointDisabled' as const, data: { id, at, reason: 'by_team' as const } }]
      : []),
  );
}

/** @throws InvariantViolation for an event of an unknown endpoint */
export function evolveEndpoints({ endpoints, changes }: Endpoints, event: EndpointEvent): Endpoints {
  // The notifier disables after a person has enabled, so it counts.
  const counted = event.type === 'EndpointDisabled' ? changes : changes + 1;
  const { id } = event.data;
  if (event.type === 'EndpointAdded') {
    const { at: createdAt, ...terms } = event.data;
    return { endpoints: [...endpoints, { ...terms, createdAt, ...begun(createdAt) }], changes: counted };
  }
  if (!endpoints.some((each) => each.id === id))
    throw new InvariantViolation(`${event.type} names an unknown endpoint`);
  const after = endpoints.flatMap((each) => (each.id === id ? apply(each, event) : [each]));
  return { endpoints: after, changes: counted };
}

const begun = (createdAt: number) => ({ currentSince: createdAt, secret: 1, formerSecrets: [] });

function apply(
  endpoint: Endpoint,
  event: Exclude<EndpointEvent, { type: 'EndpointAdded' }>,
): readonly Endpoint[] {
  const { disabled: _, description: before, ...rest } = endpoint;
  switch (event.type) {
    case 'EndpointChanged': {
      const { id: __, at, description = before, ...to } = event.data;
      const { disabled } = endpoint;
      const currentSince = to.url === undefined ? rest.currentSince : at;
      return [
        {
          ...rest,
          ...to,
          currentSince,
          ...omitUndefined({ disabled, description: description || undefined }),
        },
      ];
    }
    case 'EndpointEnabled':
      return [{ ...rest, currentSince: event.data.at, ...omitUndefined({ description: before }) }];
    case 'EndpointDisabled': {
      const { reason, at } = event.data;
      return [{ ...endpoint, disabled: { reason, at } }];
    }
    case 'EndpointSecretRotated':
      return [{ ...endpoint, ...rotated(endpoint, event.data) }];
    case 'EndpointRemoved':
      return [];
  }
}

/**
 * The latest rotation decides how long any earlier secret may sign; one whose answer was lost takes nothing from the earlier
 * ones.
 */
function rotated(
  { secret, formerSecrets }: Endpoint,
  { at, formerUntil }: Extract<EndpointEvent, { type: 'EndpointSecretRotated' }>['data'],
) {
  const limited = [{ secret, until: formerUntil }, ...formerSecrets]
    .map((each) => ({ ...each, until: Math.min(each.until, formerUntil) }))
    .filter(({ until }) => until > at);
  // The oldest is the team's secret if the answers to its repeats were lost: the ones in between were never received.
  const isTooMany = limited.length > formerSecretsMax;
  const kept = isTooMany ? [...limited.slice(0, formerSecretsMax - 1), ...limited.slice(-1)] : limited;
  return { secret: secret + 1, formerSecrets: kept };
}

export const isSubscribedTo = (
  { events: subscribed }: Endpoint,
  { type, status }: Pick<WebhookBody, 'type' | 'status'>,
) => subscribed.includes(everyWebhookEvent) || subscribed.includes(`${type}.${status}`);

/** Names of its secrets for `webhookSecretsOf`, the current one first. No team's secret has such a name. */
export function secretVersionsOf(
  { id, secret, formerSecrets }: Pick<Endpoint, 'id' | 'secret' | 'formerSecrets'>,
  now: number,
): readonly string[] {
  const former = formerSecrets.filter(({ until }) => until > now);
  return [secret, ...former.map((each) => each.secret)].map((count) => `endpoint ${id} ${count}`);
}
