/** Whether a form was sent by the person who was shown it. */
import { isSameText } from '@tollgate/service-kit';
import type { FastifyRequest } from 'fastify';
import type { Session } from './sessions.ts';

/** Both must hold: the token is the session's, and the browser does not say that the form stood elsewhere. */
export function isOwnForm(
  { headers }: Pick<FastifyRequest, 'headers'>,
  session: Pick<Session, 'csrf'>,
  given: string | undefined,
): boolean {
  return isFromHere(headers) && isSameText(given ?? '', session.csrf);
}

/** Browsers say where a form stood; a program that is none says nothing. */
export function isFromHere(headers: FastifyRequest['headers']): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}
