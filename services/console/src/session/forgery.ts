/** Checks that a form was sent by the person to whom it was shown. */
import { isSameText } from '@tollgate/service-kit';
import type { FastifyRequest } from 'fastify';
import type { Session } from './sessions.ts';

/** Both conditions are required: the session's token, and no other origin reported by the browser. */
export function isOwnForm(
  { headers }: Pick<FastifyRequest, 'headers'>,
  session: Pick<Session, 'csrf'>,
  given: string | undefined,
): boolean {
  return isFromHere(headers) && isSameText(given ?? '', session.csrf);
}

/** Browsers send the origin of a form; other programs do not. */
export function isFromHere(headers: FastifyRequest['headers']): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}
