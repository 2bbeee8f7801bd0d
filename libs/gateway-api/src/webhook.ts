/** The body of a webhook, and the public form of its delivery attempts. */
import { paymentStatuses } from '@tollgate/core/money';
import { metadataSchema } from '@tollgate/core';
import { z } from 'zod';
import { showing, shownBy } from './public-object.ts';
import { amount, currency, declineReason, instant, sanitizedMask } from './values.ts';

export const disputeWebhookStatuses = ['opened', 'won', 'lost'] as const;

/**
 * The specification's callback body (section 6, open point 6), with our token and the team's order number. The webhook of a
 * refund or dispute carries its own token, and names its payment.
 */
export const webhookBodySchema = z.object({
  token: z.string(),
  /** `test` reports no change: a person requested it. */
  type: z.enum(['payment', 'refund', 'payout', 'dispute', 'test']),
  status: z
    .enum([...paymentStatuses, ...disputeWebhookStatuses])
    .describe('The status of the specification; of a dispute, `opened`, `won` or `lost`.'),
  orderNumber: z.string().nullable(),
  amount,
  currency,
  /** Of the payment, payout or refund that it is about; of a dispute, that of its payment. */
  metadata: metadataSchema.exactOptional(),
  /** Our alias of the recurring token that the payment yielded. */
  recurringToken: z.string().exactOptional(),
  sanitizedMask: sanitizedMask.exactOptional(),
  declineReason: declineReason.exactOptional(),
  paymentToken: z
    .string()
    .exactOptional()
    .describe('The payment that is refunded or disputed; of a refund or dispute only.'),
  sequence: z
    .int()
    .min(0)
    .exactOptional()
    .describe(
      'Number of the event in the history of its payment or payout. The greater one is later. Absent from test events.',
    ),
  occurredAt: instant.exactOptional().describe('Time of the event. ISO 8601 in UTC.'),
});
/** As written where the change is known; the sender adds the event. */
export type WebhookBody = z.infer<typeof webhookBodySchema>;

/** Why an attempt got no answer, or was not made. */
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

/** A webhook with every delivery attempt. */
export const webhookSchema = z.object({
  id: z.string().describe('Sent as `webhook-id`, the same on every attempt.'),
  url: z.string(),
  endpoint: z.string().exactOptional().describe('The standing endpoint; absent for a `callbackUrl`.'),
  body: shownBy(webhookBodySchema, (kept: WebhookBody) => kept),
  state: z.enum(['open', 'delivered', 'given_up']),
  createdAt: instant,
  nextAttemptAt: instant.exactOptional().describe('Absent if no attempt follows or if one is due now.'),
  deliveries: z.array(
    z.object({
      attempt: z.int().min(1),
      at: instant,
      outcome: z.enum(['delivered', 'failed']),
      statusCode: z.int().exactOptional(),
      reason: z.enum(failureReasons).exactOptional(),
      durationMs: z.int().min(0).exactOptional().describe('Duration of the call; absent if none was made.'),
      responseBody: z
        .string()
        .exactOptional()
        .describe('First 1,000 characters of the answer, card numbers masked; absent if empty.'),
    }),
  ),
});
export const toPublicWebhook = showing(webhookSchema);
