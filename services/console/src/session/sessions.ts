/**
 * Console sessions: a cookie with a credential issued by the gateway. The console stores nothing; the API decides
 * whether a session is valid, revoked or idle. The cookie contains the time of the person's last action.
 */
import type { Operator, OperatorClaims, OperatorCredentials } from '@tollgate/teams';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyRequest } from 'fastify';
import { type Api, ApiRefusal } from '../api.ts';
import { cookieIn } from './cookies.ts';

export const sessionCookie = 'tollgate-console';

/** Lifetime of a sign-in link. */
const linkLifetimeMs = 15 * 60_000;
/** Lifetime of the API credential: long enough for one request. */
const callLifetimeMs = 60_000;

/** Signs in once. */
export const issueLink = (credentials: Pick<OperatorCredentials, 'issue'>, operator: Operator): string =>
  credentials.issue(operator, 'sign-in', linkLifetimeMs);

/** @param url of the gateway @param link or its short form in the same process */
export const signInAddress = (url: string, link: string): string => `${url}/console/sign-in?link=${link}`;

export interface Session extends OperatorClaims {
  /** The secret token in every form. */
  csrf: string;
}

type Admission = { session: Session } | { session?: undefined; message?: string | undefined };

export interface SessionDependencies {
  credentials: OperatorCredentials;
  clock: Pick<Clock, 'now'>;
  apiOf: (bearer: () => string, address: string) => Pick<Api, 'call'>;
}

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ credentials, clock, apiOf }: SessionDependencies) {
  const claimsOf = ({ csrf: _, ...claims }: Session): OperatorClaims => claims;
  const bearerWith = (claims: OperatorClaims): string => {
    const expiresAt = Math.min(claims.expiresAt, clock.now() + callLifetimeMs);
    return credentials.seal({ ...claims, use: 'api', expiresAt });
  };
  return {
    /** The session of a request, or why there is none. @throws ApiRefusal if the API cannot answer now */
    async of({ headers, ip }: Pick<FastifyRequest, 'headers' | 'ip'>): Promise<Admission> {
      const text = cookieIn({ headers }, sessionCookie);
      const claims = text === undefined ? undefined : credentials.read(text, 'session');
      if (claims === undefined) return {};
      const answer = await apiOf(() => bearerWith(claims), ip).call({ path: '/api/v1/admin/me' });
      if (answer.kind === 'answer')
        return { session: { ...claims, csrf: credentials.mac('csrf', claims.id) } };
      if (answer.status !== 401) throw new ApiRefusal(answer);
      return { message: answer.errors[0]?.message };
    },
    /** The cookie's text, for a person who acts now. */
    renew: (session: Session) => credentials.seal({ ...claimsOf(session), usedAt: clock.now() }),
    /** The API credential of the session's person. */
    bearerOf: (session: Session) => bearerWith(claimsOf(session)),
  };
}

/** The session id of a request, even if the person has signed out since. */
export function sessionIdOf(
  credentials: Pick<OperatorCredentials, 'open'>,
  request: Pick<FastifyRequest, 'headers'>,
): string | undefined {
  const text = cookieIn(request, sessionCookie);
  return text === undefined ? undefined : credentials.open(text, 'session')?.id;
}
