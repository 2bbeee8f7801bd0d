/**
 * The Payment Service signs nothing, so the address that it calls carries the proof: a MAC over environment and token that
 * only we can make. Two secrets may be active; the first one makes new addresses, each is accepted.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { StartupError, Secret } from '@tollgate/service-kit';

export interface CallbackSecret {
  /** Names the secret in addresses: 1 to 16 letters and digits. */
  kid: string;
  secret: Secret;
}

/** Reads `kid:secret,kid:secret`: one or two secrets of at least 32 characters, the one for new addresses first. */
export function parseCallbackSecrets(text: string): readonly CallbackSecret[] {
  const secrets = text.split(',').map((part) => /^([A-Za-z0-9]{1,16}):(.{32,})$/.exec(part.trim()));
  const valid = secrets.flatMap((match) =>
    match?.[1] === undefined || match[2] === undefined
      ? []
      : [{ kid: match[1], secret: new Secret(match[2]) }],
  );
  if (
    valid.length !== secrets.length ||
    valid.length > 2 ||
    new Set(valid.map(({ kid }) => kid)).size !== valid.length
  )
    throw new StartupError(
      'config_invalid',
      'Set CALLBACK_SECRETS to one or two entries written kid:secret, separated by a comma, each secret at least 32 characters.',
    );
  return valid;
}

const macOf = ({ secret }: CallbackSecret, environment: string, token: string): string =>
  createHmac('sha256', secret.reveal())
    .update(JSON.stringify(['callback', environment, token]))
    .digest('base64url');

/** Path of the address that the service is given for one payment: `/callbacks/<environment>/<token>/<kid>.<mac>`. */
export function callbackPath(secrets: readonly CallbackSecret[], environment: string, token: string): string {
  const [active] = secrets;
  if (active === undefined) throw new StartupError('config_invalid', 'There is no callback secret.');
  return `/callbacks/${environment}/${token}/${active.kid}.${macOf(active, environment, token)}`;
}

/** True where the capability was made by us for this environment and token. Takes the same time however wrong it is. */
export function isCallbackCapability(
  secrets: readonly CallbackSecret[],
  environment: string,
  token: string,
  capability: string,
): boolean {
  const given = Buffer.from(capability);
  const matches = secrets.map((secret) => {
    const expected = Buffer.from(`${secret.kid}.${macOf(secret, environment, token)}`);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return matches.includes(true);
}
