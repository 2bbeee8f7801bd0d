/**
 * Who is signed in: a cookie with a credential that only this server makes. Nothing is kept here but what has been ended
 * before its time, so that a restart signs nobody out and every front door knows everybody.
 */
import type { Operator, OperatorClaims, OperatorCredentials } from '@tollgate/teams';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A working day. */
const sessionLifetimeMs = 9 * 3_600_000;
/** Of a link to sign in. */
const linkLifetimeMs = 15 * 60_000;
/** So many ended sessions and used links are remembered; more cannot be made within their lifetimes by who has no secret. */
const endedMax = 10_000;

/** Where somebody signs in, once. @param url of the gateway */
export const signInAddress = (
  credentials: Pick<OperatorCredentials, 'issue'>,
  url: string,
  operator: Operator,
): string => `${url}/console/sign-in?link=${credentials.issue(operator, 'sign-in', linkLifetimeMs)}`;

export interface Session extends OperatorClaims {
  /** What every form carries, and nobody else knows. */
  csrf: string;
}

export interface Sessions {
  /** Begins a session with a link, once. Undefined for a link that is none, is used up or has expired. */
  signIn(link: string): { session: Session; cookie: string } | undefined;
  /** Whether the link would sign somebody in; uses nothing up. */
  whom(link: string): OperatorClaims | undefined;
  of(request: Pick<FastifyRequest, 'headers'>): Session | undefined;
  end(session: Session): void;
}

export interface SessionDependencies {
  credentials: OperatorCredentials;
  clock: Pick<Clock, 'now'>;
}

export function createSessions({ credentials, clock }: SessionDependencies): Sessions {
  const ended = new Map<string, number>();

  function endUntil(id: string, until: number): void {
    const now = clock.now();
    if (ended.size >= endedMax) for (const [each, at] of ended) if (at < now) ended.delete(each);
    ended.set(id, until);
  }

  const toSession = (claims: OperatorClaims): Session => ({
    ...claims,
    csrf: credentials.mac('csrf', claims.id),
  });
  const whom = (link: string): OperatorClaims | undefined => {
    const claims = credentials.open(link, 'sign-in');
    return claims === undefined || ended.has(claims.id) ? undefined : claims;
  };

  return {
    whom,
    signIn(link) {
      const claims = whom(link);
      if (claims === undefined) return undefined;
      endUntil(claims.id, claims.expiresAt);
      // A credential of its own: what a browser had before it signed in opens nothing.
      const cookie = credentials.issue(claims, 'session', sessionLifetimeMs);
      const opened = credentials.open(cookie, 'session');
      return opened === undefined ? undefined : { session: toSession(opened), cookie };
    },
    of({ headers }) {
      const text = cookieIn(headers.cookie);
      const claims = text === undefined ? undefined : credentials.open(text, 'session');
      return claims === undefined || ended.has(claims.id) ? undefined : toSession(claims);
    },
    end: ({ id, expiresAt }) => endUntil(id, expiresAt),
  };
}

/** The id of the session that a request comes with, whether or not its person has signed out since. */
export function sessionIdOf(
  credentials: Pick<OperatorCredentials, 'open'>,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | undefined {
  const text = cookieIn(headers.cookie);
  return text === undefined ? undefined : credentials.open(text, 'session')?.id;
}

const cookieName = 'tollgate-console';

/** Two cookies of the name are none: somebody has planted one. */
function cookieIn(header: string | undefined): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${cookieName}=`))
    .map((part) => part.slice(cookieName.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** Undefined takes the cookie away. @param secure attribute that keeps it off plain HTTP, or nothing */
export function setCookie(reply: FastifyReply, value: string | undefined, secure: string): void {
  const age = value === undefined ? 0 : sessionLifetimeMs / 1_000;
  reply.header(
    'set-cookie',
    `${cookieName}=${value ?? ''}; Path=/console; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`,
  );
}
