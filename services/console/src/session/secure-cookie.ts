import type { FastifyRequest } from 'fastify';

/**
 * The attribute `Secure` for a browser that came by HTTPS. `X-Forwarded-Proto` of a proxy that `TRUSTED_PROXIES` does not
 * name counts as well: a false header affects only the cookie of its own sender.
 *
 * @param publicUrl where browsers reach the console, if configured
 */
export function secureAttribute(
  { protocol, headers }: Pick<FastifyRequest, 'protocol' | 'headers'>,
  publicUrl: string | undefined,
): '; Secure' | '' {
  const isHttps =
    protocol === 'https' ||
    headers['x-forwarded-proto'] === 'https' ||
    publicUrl?.startsWith('https:') === true;
  return isHttps ? '; Secure' : '';
}
