/**
 * The events of one queue of webhooks (stream `webhook-<queue>`): each due webhook, and every attempt to deliver it. Instants are milliseconds since the Unix epoch.
 */
import { failureReasons, webhookBodySchema } from '@tollgate/gateway-api';
import { environmentSchema } from '@tollgate/core';
import { z } from 'zod';
import { type EventOf, eventFamily } from '@tollgate/event-store';

const instantSchema = z.int().min(0);
/** Of one call, milliseconds. */
const durationSchema = z.int().min(0);
/** The beginning of the answer, without card numbers. */
const responseBodySchema = z.string();
/** `whk_` and 32 hexadecimal digits; sent as `webhook-id`, the same on every attempt. */
const idSchema = z.string().min(1);

/** Data of each event type, as stored. */
const webhookEventSchemas = {
  WebhookDue: z.object({
    id: idSchema,
    environment: environmentSchema,
    team: z.string(),
    /** The endpoint's URL at that time. */
    url: z.string(),
    /** Id of its standing endpoint; absent for a `callbackUrl`. */
    endpoint: z.string().exactOptional(),
    body: webhookBodySchema,
    at: instantSchema,
  }),
  /** `attempt` counts all attempts of the webhook, from 1. Without `nextAt` no further attempt is scheduled. */
  DeliveryFailed: z.object({
    id: idSchema,
    attempt: z.int().min(1),
    at: instantSchema,
    statusCode: z.int().exactOptional(),
    reason: z.enum(failureReasons).exactOptional(),
    durationMs: durationSchema.exactOptional(),
    responseBody: responseBodySchema.exactOptional(),
    nextAt: instantSchema.exactOptional(),
  }),
  Delivered: z.object({
    id: idSchema,
    attempt: z.int().min(1),
    at: instantSchema,
    statusCode: z.int(),
    durationMs: durationSchema.exactOptional(),
    responseBody: responseBodySchema.exactOptional(),
  }),
  DeliveryGivenUp: z.object({ id: idSchema, at: instantSchema }),
  /** A replay was requested: at once, and on the whole schedule again if that fails. */
  ReplayRequested: z.object({ id: idSchema, at: instantSchema }),
} as const;

type WebhookEventType = keyof typeof webhookEventSchemas;
export type WebhookEvent = EventOf<typeof webhookEventSchemas>;
export type WebhookEventOf<Type extends WebhookEventType> = Extract<WebhookEvent, { type: Type }>;

export const webhookStreamPrefix = 'webhook-';
export const webhookStream = (queue: string): string => `${webhookStreamPrefix}${queue}`;
export const queueOfStream = (stream: string): string => stream.slice(webhookStreamPrefix.length);
/**
 * Webhooks about one payment or payout to one receiver are a queue, so that no receiver waits for another. A `callbackUrl` is
 * the receiver of one payment or payout: its queue has their token as name.
 */
export const queueAtEndpoint = (endpoint: string, token: string): string => `${endpoint}.${token}`;
/** The standing endpoint of a queue; undefined for a `callbackUrl`. Ids of endpoints begin with `we_`, unlike tokens. */
export const endpointOfQueue = (queue: string): string | undefined =>
  queue.startsWith('we_') ? queue.slice(0, queue.indexOf('.')) : undefined;

export const { decode: decodeWebhookEvent, versionOf: versionOfWebhookEvent } =
  eventFamily(webhookEventSchemas);
