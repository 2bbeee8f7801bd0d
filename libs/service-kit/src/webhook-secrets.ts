/**
 * What webhooks to teams are signed with: a secret for each team and environment, derived from a master secret, so
 * that none of them has to be stored. Two masters may be active: then each team has two secrets, webhooks carry the
 * signatures of both, and a receiver that knows either goes on verifying while it changes over.
 */
import { createHmac } from 'node:crypto';
import { StartupError } from './errors.ts';
import { Secret } from './secret.ts';

export interface WebhookMasterSecret {
  /** Names the master for whoever rotates it: 1 to 16 letters and digits. Never sent. */
  kid: string;
  secret: Secret;
}

/** Reads `kid:secret,kid:secret`: one or two masters of at least 32 characters, the one whose secrets are handed out first. */
export function parseWebhookSecrets(text: string): readonly WebhookMasterSecret[] {
  const parts = text.split(',').map((part) => /^([A-Za-z0-9]{1,16}):(.{32,})$/.exec(part.trim()));
  const masters = parts.flatMap((match) =>
    match?.[1] === undefined || match[2] === undefined
      ? []
      : [{ kid: match[1], secret: new Secret(match[2]) }],
  );
  const kids = new Set(masters.map(({ kid }) => kid));
  if (masters.length !== parts.length || masters.length > 2 || kids.size !== masters.length)
    throw new StartupError(
      'config_invalid',
      'Set WEBHOOK_SECRETS to one or two entries written kid:secret, separated by a comma, each secret at least 32 characters.',
    );
  return masters;
}

/** The secrets of one team, one for each master and in their order, as Standard Webhooks writes them: `whsec_<base64>`. */
export const webhookSecretsOf = (
  masters: readonly WebhookMasterSecret[],
  environment: string,
  team: string,
): readonly Secret[] => masters.map((master) => new Secret(`whsec_${derive(master, environment, team)}`));

// A JSON array keeps its parts apart: no two pairs of environment and team give the same text.
const derive = ({ secret }: WebhookMasterSecret, environment: string, team: string): string =>
  createHmac('sha256', secret.reveal())
    .update(JSON.stringify(['webhook', environment, team]))
    .digest('base64');
