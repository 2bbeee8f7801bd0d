/** A webhook as a team sees it. */
import { type PublicWebhook, toIso } from '@tollgate/gateway-api';
import { omitUndefined } from '@tollgate/service-kit';
import type { Delivery, Webhook } from './webhook-state.ts';

export const toPublicWebhook = (webhook: Webhook): PublicWebhook => ({
  id: webhook.id,
  url: webhook.url,
  ...omitUndefined({ endpoint: webhook.endpoint }),
  body: webhook.body,
  state: webhook.state,
  createdAt: toIso(webhook.createdAt),
  ...omitUndefined({ nextAttemptAt: nextAttemptAt(webhook) }),
  deliveries: webhook.deliveries.map(toPublicDelivery),
});

/** Absent if no attempt will follow, and if one is due immediately. */
const nextAttemptAt = ({ state, nextAt }: Webhook): string | undefined =>
  state === 'open' && nextAt > 0 ? toIso(nextAt) : undefined;

const toPublicDelivery = ({ attempt, at, isDelivered, statusCode, reason }: Delivery) => ({
  attempt,
  at: toIso(at),
  outcome: isDelivered ? ('delivered' as const) : ('failed' as const),
  ...omitUndefined({ statusCode, reason }),
});
