/**
 * Signing secrets of webhooks: one for each team and environment, derived from a master secret, so that none has to be stored.
 * Two masters may be active: then each team has two secrets, webhooks
 * carry both signatures, and a receiver with either one verifies during the change.
 */
import { createHmac } from 'node:crypto';
import { type KeyedSecret, parseKeyedSecrets } from './keyed-secrets.ts';
import { Secret } from './secret.ts';

/** Its name is never sent. */
export type WebhookMasterSecret = KeyedSecret;

/** One or two masters, the one whose secrets are handed out first. @throws StartupError */
export const parseWebhookSecrets = (text: string): readonly WebhookMasterSecret[] =>
  parseKeyedSecrets('WEBHOOK_SECRETS', text, 2);

/**
 * The secrets of one team, as Standard Webhooks writes them (`whsec_<base64>`): for each version one of each master, in order.
 *
 * @param versions names of the team's rotations, the current one first; the empty text is the initial one
 */
export const webhookSecretsOf = (
  masters: readonly WebhookMasterSecret[],
  environment: string,
  team: string,
  versions: readonly string[] = [''],
): readonly Secret[] =>
  versions.flatMap((version) =>
    masters.map((master) => new Secret(`whsec_${derive(master, { environment, team, version })}`)),
  );

// A JSON array separates its parts: no two names give the same text.
const derive = (
  { secret }: WebhookMasterSecret,
  { environment, team, version }: { environment: string; team: string; version: string },
): string =>
  createHmac('sha256', secret.reveal())
    .update(JSON.stringify(['webhook', environment, team, ...(version === '' ? [] : [version])]))
    .digest('base64');
