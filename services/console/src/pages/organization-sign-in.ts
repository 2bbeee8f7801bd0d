/**
 * Sign-in with an organization's account. A person who returns from the identity provider gets the same kind of link
 * that the command line prints, and presses the same button: a browser that arrives from another site has no session
 * yet.
 */
import { type Log, isSameText } from '@tollgate/service-kit';
import { type OperatorCredentials, keyIdOfPerson } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ConsoleKit, send } from '../page.ts';
import { secureAttribute } from '../session/secure-cookie.ts';
import { type Begun, type IdentityProvider, callbackPath } from '../session/identity-provider.ts';
import { texts } from '../texts.ts';
import { failurePage } from './failure.ts';
import { confirmationPage } from './sign-in.ts';

export interface OrganizationSignIn {
  provider: IdentityProvider;
  credentials: OperatorCredentials;
  log: Log;
}

export const organizationPath = '/console/sign-in/organization';
const cookieName = 'tollgate-sign-in';
/** Time for typing a password and a code. */
const lifetimeMs = 10 * 60_000;
/** Lifetime of the link sent by the button. */
const linkLifetimeMs = 5 * 60_000;
/** Maximum number of remembered states: unauthenticated clients can start a sign-in, and return with invalid data. */
const usedMax = 100_000;
/** Maximum number of concurrent requests to the provider: unauthenticated clients can start a sign-in. */
const atOnceMax = 16;

const tooWeak = {
  OIDC_ACR_VALUES:
    'Your organization signed you in without the factor that is required here (OIDC_ACR_VALUES). Sign in again with your second factor, or ask the operators of the gateway.',
  OIDC_MAX_AGE_SECONDS:
    'Your sign-in at your organization is older than allowed here, or its age is unknown (OIDC_MAX_AGE_SECONDS). Sign out there, and sign in again.',
};

export function registerOrganizationSignIn(
  app: FastifyInstance,
  kit: ConsoleKit,
  { provider, credentials, log }: OrganizationSignIn,
): void {
  const used = createUsedStates(kit);
  let underWay = 0;

  async function waiting<Value>(ask: () => Promise<Value>): Promise<Value | undefined> {
    if (underWay >= atOnceMax) return undefined;
    underWay += 1;
    try {
      return await ask();
    } catch (error) {
      log.warn({ error }, 'a sign-in with an organization account failed');
      return undefined;
    } finally {
      underWay -= 1;
    }
  }

  app.get(organizationPath, async (request, reply) => {
    const asked = await waiting(() => provider.begin());
    if (asked === undefined) return send(kit, request, reply, failed(503));
    setCookie(reply, seal(kit, asked.begun), secureAttribute(request, kit.publicUrl));
    return reply.redirect(asked.address, 303);
  });

  app.get(callbackPath, async (request, reply) => {
    const begun = open(kit, request);
    setCookie(reply, undefined, secureAttribute(request, kit.publicUrl));
    if (begun === undefined || !used.use(begun.state)) return send(kit, request, reply, failed(401));
    const query = request.url.split('?', 2)[1] ?? '';
    const found = await waiting(() => provider.identify(query, begun));
    if (found === undefined) return send(kit, request, reply, failed(401));
    const { person } = found;
    if (found.kind === 'too-weak') {
      const { setting } = found;
      log.warn(
        { keyId: keyIdOfPerson(person), code: setting },
        'rejected the sign-in of a person: too weak or too old',
      );
      return send(kit, request, reply, failurePage(403, texts.errors.notSignedIn, tooWeak[setting]));
    }
    if (found.kind === 'no-role') {
      log.warn(
        { keyId: keyIdOfPerson(person) },
        'rejected the sign-in of a person without a group that has a role',
      );
      return send(
        kit,
        request,
        reply,
        failurePage(
          403,
          texts.errors.notSignedIn,
          `Your organization says that you are ${person}, and none of your groups has a role here. Ask the operators of the gateway.`,
        ),
      );
    }
    const operator = { person, source: 'oidc', grants: found.grants } as const;
    const link = credentials.issue(operator, 'sign-in', linkLifetimeMs);
    return send(kit, request, reply, confirmationPage(operator, link));
  });
}

const failed = (status: number) =>
  failurePage(
    status,
    texts.errors.notSignedIn,
    'Your organization did not confirm who you are, or this took too long. Try again. If it fails again, read the log of the gateway.',
  );

/** The state of a sign-in with its expiry, protected by a MAC. */
function seal({ mac, clock }: ConsoleKit, begun: Begun): string {
  const until = clock.now() + lifetimeMs;
  const payload = Buffer.from(JSON.stringify({ ...begun, until })).toString('base64url');
  return `${payload}.${mac('organization-sign-in', payload)}`;
}

function open({ mac, clock }: ConsoleKit, { headers }: FastifyRequest): Begun | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((part) => part.trim());
  const [sealed, ...others] = cookies.filter((part) => part.startsWith(`${cookieName}=`));
  const [payload = '', given = ''] = (sealed ?? '').slice(cookieName.length + 1).split('.', 2);
  if (others.length > 0 || !isSameText(given, mac('organization-sign-in', payload))) return undefined;
  const { until, ...begun } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Begun & {
    until: number;
  };
  return until > clock.now() ? begun : undefined;
}

/** Sent when the browser returns from another site, unlike a stricter cookie, and only to these paths. */
function setCookie(reply: FastifyReply, value: string | undefined, secure: string): void {
  const age = value === undefined ? 0 : lifetimeMs / 1_000;
  reply.header(
    'set-cookie',
    `${cookieName}=${value ?? ''}; Path=${organizationPath}; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`,
  );
}

/** Each state is valid once, even if the cookie was copied. Contains only states that we issued. */
function createUsedStates({ clock }: Pick<ConsoleKit, 'clock'>) {
  const usedUntil = new Map<string, number>();
  return {
    use(state: string): boolean {
      const now = clock.now();
      for (const [each, until] of usedUntil) {
        if (until > now) break;
        usedUntil.delete(each);
      }
      if (usedUntil.has(state) || usedUntil.size >= usedMax) return false;
      usedUntil.set(state, now + lifetimeMs);
      return true;
    },
  };
}
