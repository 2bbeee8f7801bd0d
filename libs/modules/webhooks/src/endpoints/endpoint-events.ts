/** The events of a team's webhook endpoints in one environment (stream `endpoints-<environment>.<team>`). */
import { endpointDisabledReasons } from '@tollgate/gateway-api';
import { type EventOf, environmentSchema, eventFamily } from '@tollgate/core';
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
