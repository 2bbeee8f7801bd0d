/** Signs webhooks as Standard Webhooks 1.0 says, so that receivers verify them with its public libraries. */
import { createHmac } from 'node:crypto';
import type { Secret } from '@tollgate/service-kit';

/** One signature for each secret, over the id, the time of the try and the body, byte by byte as it is sent. */
export function webhookHeaders(
  message: { id: string; body: string },
  secrets: readonly Secret[],
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const content = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`,
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

const keyOf = (secret: Secret): Buffer => Buffer.from(secret.reveal().slice('whsec_'.length), 'base64');
