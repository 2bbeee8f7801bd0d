/**
 * The Payment Service signs nothing, so the address that it calls carries the proof: a MAC over environment and token that
 * only we can make. Two secrets may be active; the first one makes new addresses, each is accepted.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type KeyedSecret, StartupError, parseKeyedSecrets } from '@tollgate/service-kit';

/** Its name is part of addresses. */
export type CallbackSecret = KeyedSecret;

/** One or two secrets, the one for new addresses first. @throws StartupError */
export const parseCallbackSecrets = (text: string): readonly CallbackSecret[] =>
  parseKeyedSecrets('CALLBACK_SECRETS', text, 2);

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
