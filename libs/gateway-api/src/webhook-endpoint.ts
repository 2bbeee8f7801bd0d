/** A standing receiver of a team's webhooks, and the events that it can subscribe to. */
import { paymentStatuses } from '@tollgate/core/money';
import { environmentSchema } from '@tollgate/core';
import { z } from 'zod';
import { showing } from './public-object.ts';
import { instant } from './values.ts';
import { disputeWebhookStatuses } from './webhook.ts';

/** The events of an endpoint: `<type>.<status>` of the body. */
const refundOutcomes = ['approved', 'declined'] as const;
export const webhookEventNames = [
  ...paymentStatuses.map((status) => `payment.${status}` as const),
  ...refundOutcomes.map((status) => `refund.${status}` as const),
  ...paymentStatuses.map((status) => `payout.${status}` as const),
  ...disputeWebhookStatuses.map((status) => `dispute.${status}` as const),
] as const;

/** All events, including those added later. */
export const everyWebhookEvent = '*';

export const endpointDisabledReasons = ['by_team', 'gone', 'given_up'] as const;

export const webhookEndpointSchema = z.object({
  id: z.string().describe('`we_…`.'),
  environment: environmentSchema,
  url: z.string(),
  events: z.array(z.string()).describe('`<type>.<status>` of the body, or `*` for all.'),
  description: z.string().exactOptional(),
  status: z.enum(['enabled', 'disabled']),
  disabledReason: z
    .enum(endpointDisabledReasons)
    .exactOptional()
    .describe(
      '`gone`: it answered 410. `given_up`: the last attempt of a webhook failed, and no other was delivered. Repair it, enable it, and replay the failed webhooks.',
    ),
  disabledAt: instant.exactOptional(),
  formerSecretUntil: instant
    .exactOptional()
    .describe('Until then, webhooks also carry the signature of the old secret.'),
  createdAt: instant,
});
export type PublicWebhookEndpoint = z.infer<typeof webhookEndpointSchema>;
export const toPublicWebhookEndpoint = showing(webhookEndpointSchema);
