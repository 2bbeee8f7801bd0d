/** Whether a form was sent by the person who was shown it. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Session } from './sessions.ts';

/** Both must hold: the token is the session's, and the browser does not say that the form stood elsewhere. */
export function isOwnForm(
  { headers }: Pick<FastifyRequest, 'headers'>,
  session: Pick<Session, 'csrf'>,
  given: string | undefined,
): boolean {
  return isFromHere(headers) && isToken(given ?? '', session.csrf);
}

/** Browsers say where a form stood; a program that is none says nothing. */
export function isFromHere(headers: FastifyRequest['headers']): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

const isToken = (given: string, token: string): boolean =>
  given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token));
