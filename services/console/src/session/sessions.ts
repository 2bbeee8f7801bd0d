/**
 * Console sessions: a cookie with a credential issued by the gateway. The console stores nothing; the API decides
 * whether a session is valid, revoked or idle. The cookie contains the time of the person's last action.
 */
import type { Operator, OperatorClaims, OperatorCredentials } from '@tollgate/teams';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Api, ApiRefusal } from '../api.ts';

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

export interface Sessions {
  /**
   * The session of a request, or why there is none.
   *
   * @throws ApiRefusal if the API cannot answer now
   */
  of(request: Pick<FastifyRequest, 'headers' | 'ip'>): Promise<Admission>;
  /** The cookie's text, for a person who acts now. */
  renew(session: Session): string;
  /** The API credential of the session's person. */
  bearerOf(session: Session): string;
}

export interface SessionDependencies {
  credentials: OperatorCredentials;
  clock: Pick<Clock, 'now'>;
  apiOf: (bearer: () => string, address: string) => Pick<Api, 'call'>;
}

export function createSessions({ credentials, clock, apiOf }: SessionDependencies): Sessions {
  const claimsOf = ({ csrf: _, ...claims }: Session): OperatorClaims => claims;
  const bearerWith = (claims: OperatorClaims): string => {
    const expiresAt = Math.min(claims.expiresAt, clock.now() + callLifetimeMs);
    return credentials.seal({ ...claims, use: 'api', expiresAt });
  };
  return {
    async of({ headers, ip }) {
      const text = cookieIn(headers.cookie);
      const claims = text === undefined ? undefined : credentials.read(text, 'session');
      if (claims === undefined) return {};
      const answer = await apiOf(() => bearerWith(claims), ip).call({ path: '/api/v1/admin/me' });
      if (answer.kind === 'answer')
        return { session: { ...claims, csrf: credentials.mac('csrf', claims.id) } };
      if (answer.status !== 401) throw new ApiRefusal(answer);
      return { message: answer.errors[0]?.message };
    },
    renew: (session) => credentials.seal({ ...claimsOf(session), usedAt: clock.now() }),
    bearerOf: (session) => bearerWith(claimsOf(session)),
  };
}

/** The session id of a request, even if the person has signed out since. */
export function sessionIdOf(
  credentials: Pick<OperatorCredentials, 'open'>,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | undefined {
  const text = cookieIn(headers.cookie);
  return text === undefined ? undefined : credentials.open(text, 'session')?.id;
}

const cookieName = 'tollgate-console';

/** Two cookies of the same name count as none: one of them was planted. */
export function cookieIn(header: string | undefined, name = cookieName): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/**
 * @param age in seconds; 0 deletes the cookie
 * @param secure attribute that restricts it to HTTPS, or empty
 */
export function setCookie(
  reply: FastifyReply,
  text: string,
  { age, secure }: { age: number; secure: string },
): void {
  reply.header(
    'set-cookie',
    `${cookieName}=${text}; Path=/console; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`,
  );
}
