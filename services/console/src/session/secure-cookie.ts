import type { FastifyRequest } from 'fastify';

/**
 * The attribute `Secure` for a browser that uses HTTPS. `X-Forwarded-Proto` of a proxy missing from `TRUSTED_PROXIES`
 * counts as well: a false header affects only its sender's cookie.
 *
 * @param publicUrl URL of the console for browsers, if configured
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
