/** Cookies of the console: no script reads them, and no other site sends them. */
import type { FastifyReply, FastifyRequest } from 'fastify';

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

/** Two cookies of the same name count as none: one of them was planted. */
export function cookieIn({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

interface Cookie {
  name: string;
  value: string;
  /** 0 deletes the cookie. @unit seconds */
  age: number;
  /** The attribute that restricts it to HTTPS, or nothing; see {@link secureAttribute}. */
  secure: string;
  path?: string;
  /** `Lax`: sent as well when the browser returns from another site. */
  sameSite?: 'Strict' | 'Lax';
}

export function setCookie(
  reply: FastifyReply,
  { name, value, age, secure, path = '/console', sameSite = 'Strict' }: Cookie,
): void {
  const attributes = `Path=${path}; Max-Age=${age}; HttpOnly; SameSite=${sameSite}${secure}`;
  reply.header('set-cookie', `${name}=${value}; ${attributes}`);
}
