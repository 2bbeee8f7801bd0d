/**
 * The events of the webhooks about one payment or payout, the subject (stream `webhook-<its token>`): what its
 * team was to be told, and every try to tell it. What a team answered is kept as a status code only. Instants are
 * milliseconds since the Unix epoch.
 */
import { amountSchema, currencySchema, paymentStatusSchema } from '@tollgate/payment-api/values';
import { environmentSchema } from '@tollgate/payment-domain';
import { z } from 'zod';

const instantSchema = z.int().min(0);
/** `whk_` and 32 hexadecimal digits; sent as `webhook-id`, the same at every try. */
const idSchema = z.string().min(1);

/**
 * What is sent: the specification's callback body (section 6, decision 6), with our token and the team's order number. A
 * refund is told of with its payment, and has a token of its own.
 */
export const webhookBodySchema = z.object({
  token: z.string(),
  type: z.enum(['payment', 'refund', 'payout']),
  status: paymentStatusSchema,
  orderNumber: z.string().nullable(),
  amount: amountSchema,
  currency: currencySchema,
  /** Our alias of the recurring token that the payment brought. */
  recurringToken: z.string().exactOptional(),
  sanitizedMask: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
});
export type WebhookBody = z.infer<typeof webhookBodySchema>;

/** Why a try came to no answer, or was not made. */
export const failureReasons = [
  'origin_not_allowed',
  'address_not_allowed',
  'name_not_found',
  'connection_failed',
  'certificate_refused',
  'answer_unreadable',
  'timeout',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Data of each event type, as stored. */
export const webhookEventSchemas = {
  /** It is to be sent at once. */
  WebhookDue: z.object({
    id: idSchema,
    environment: environmentSchema,
    team: z.string(),
    url: z.string(),
    body: webhookBodySchema,
    at: instantSchema,
  }),
  /** `attempt` counts all tries of the webhook, from 1. Without `nextAt` there will be none by itself. */
  DeliveryFailed: z.object({
    id: idSchema,
    attempt: z.int().min(1),
    at: instantSchema,
    statusCode: z.int().exactOptional(),
    reason: z.enum(failureReasons).exactOptional(),
    nextAt: instantSchema.exactOptional(),
  }),
  Delivered: z.object({ id: idSchema, attempt: z.int().min(1), at: instantSchema, statusCode: z.int() }),
  DeliveryGivenUp: z.object({ id: idSchema, at: instantSchema }),
  /** Somebody wants it sent once more: at once, and on schedule from the start if that fails. */
  ReplayRequested: z.object({ id: idSchema, at: instantSchema }),
} as const;

export type WebhookEventType = keyof typeof webhookEventSchemas;
export type WebhookEvent = {
  [Type in WebhookEventType]: { type: Type; data: z.infer<(typeof webhookEventSchemas)[Type]> };
}[WebhookEventType];
export type WebhookEventOf<Type extends WebhookEventType> = Extract<WebhookEvent, { type: Type }>;

export const webhookStreamPrefix = 'webhook-';
/** The tokens of payments and payouts begin differently, so no two subjects share a stream. */
export const webhookStream = (token: string): string => `${webhookStreamPrefix}${token}`;
export const tokenOfWebhookStream = (stream: string): string => stream.slice(webhookStreamPrefix.length);

const isWebhookEventType = (type: string): type is WebhookEventType =>
  Object.hasOwn(webhookEventSchemas, type);

/** Decodes a stored event. @throws z.ZodError or RangeError for what no version of ours has written. */
export function decodeWebhookEvent(stored: { type: string; data: unknown }): WebhookEvent {
  if (!isWebhookEventType(stored.type)) throw new RangeError(`unknown event type ${stored.type}`);
  const data: unknown = webhookEventSchemas[stored.type].parse(stored.data);
  return { type: stored.type, data } as WebhookEvent;
}
