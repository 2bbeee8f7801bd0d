/**
 * The Payment Service signs nothing, so the address that it calls carries the proof: a MAC over environment and token that
 * only we can make. Two secrets may be active; the first one makes new addresses, each is accepted.
 */
import { createHmac } from 'node:crypto';
import { type KeyedSecret, StartupError, isSameText, parseKeyedSecrets, dayMs } from '@tollgate/service-kit';

/** Its name is part of addresses. */
export type CallbackSecret = KeyedSecret;

/** One or two secrets, the one for new addresses first. @throws StartupError */
export const parseCallbackSecrets = (text: string): readonly CallbackSecret[] =>
  parseKeyedSecrets('CALLBACK_SECRETS', text, 2);

const macOf = ({ secret }: CallbackSecret, environment: string, token: string, day: number): string =>
  createHmac('sha256', secret.reveal())
    .update(JSON.stringify(['callback', environment, token, day]))
    .digest('base64url');

/**
 * Path of the callback URL of one payment: `/callbacks/<environment>/<token>/<kid>.<day>.<mac>`.
 *
 * @param issuedAt milliseconds since the Unix epoch; the path contains its day, so that it can expire
 */
export function callbackPath(
  secrets: readonly CallbackSecret[],
  environment: string,
  token: string,
  issuedAt: number,
): string {
  const [active] = secrets;
  if (active === undefined) throw new StartupError('config_invalid', 'There is no callback secret.');
  const day = Math.floor(issuedAt / dayMs);
  return `/callbacks/${environment}/${token}/${active.kid}.${day}.${macOf(active, environment, token, day)}`;
}

/**
 * The day when we made the capability for this environment and token, in milliseconds since the Unix epoch; undefined if we did
 * not. Constant time.
 */
export function readCallbackCapability(
  secrets: readonly CallbackSecret[],
  environment: string,
  token: string,
  capability: string,
): { issuedAt: number } | undefined {
  const day = Number(/^\w+\.(\d{1,6})\./.exec(capability)?.[1] ?? -1);
  const matches = secrets.map((secret) =>
    isSameText(capability, `${secret.kid}.${day}.${macOf(secret, environment, token, day)}`),
  );
  return matches.includes(true) ? { issuedAt: day * dayMs } : undefined;
}
