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
 * Path of the address that the service is given for one payment: `/callbacks/<environment>/<token>/<kid>.<day>.<mac>`.
 *
 * @param issuedAt milliseconds since the Unix epoch; the address has the day of it, so that it can come to its end
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
 * When the capability was made by us for this environment and token: the day, in milliseconds since the Unix epoch;
 * undefined if it was not. Takes the same time however wrong it is.
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
