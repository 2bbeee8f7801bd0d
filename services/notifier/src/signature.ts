/** Signs webhooks by Standard Webhooks 1.0, so that receivers verify them with its public libraries. */
import type { Secret } from '@tollgate/service-kit';
import { Webhook } from 'standardwebhooks';

/** One signature for each secret, over the id, the time of the attempt and the body, byte by byte as it is sent. */
export function webhookHeaders(
  message: { id: string; body: string },
  secrets: readonly Secret[],
  now: number,
): Record<string, string> {
  const signatures = secrets.map((secret) =>
    new Webhook(secret.reveal()).sign(message.id, new Date(now), message.body),
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}
