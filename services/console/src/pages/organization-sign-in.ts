/**
 * Sign-in with an organization's account. A person who returns from the identity provider gets the same kind of link
 * that the command line prints, and presses the same button: a browser that arrives from another site has no session
 * yet.
 */
import type { Log } from '@tollgate/service-kit';
import { type OperatorCredentials, keyIdOfPerson } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ConsoleKit, send } from '../page.ts';
import { cookieIn, secureAttribute, setCookie } from '../session/cookies.ts';
import { type Begun, type IdentityProvider, callbackPath } from '../session/identity-provider.ts';
import { seal, unseal } from '../session/sealed.ts';
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
const purpose = 'organization-sign-in';
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
    keep(kit, request, reply, asked.begun);
    return reply.redirect(asked.address, 303);
  });

  app.get(callbackPath, async (request, reply) => {
    const begun = keptIn(kit, request);
    keep(kit, request, reply);
    if (begun === undefined || !used.use(begun.state)) return send(kit, request, reply, failed(401));
    const query = request.url.split('?', 2)[1] ?? '';
    const found = await waiting(() => provider.identify(query, begun));
    if (found === undefined) return send(kit, request, reply, failed(401));
    const { person } = found;
    const reject = (reason: string, text: string) => {
      log.warn({ keyId: keyIdOfPerson(person) }, `rejected the sign-in of a person: ${reason}`);
      return send(kit, request, reply, failurePage(403, texts.errors.notSignedIn, text));
    };
    if (found.kind === 'too-weak')
      return reject(`too weak or too old (${found.setting})`, tooWeak[found.setting]);
    if (found.kind === 'no-role')
      return reject(
        'no group has a role',
        `Your organization says that you are ${person}, and none of your groups has a role here. Ask the operators of the gateway.`,
      );
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

/** Keeps the state of a sign-in, or deletes it. Only these paths get it, also when the browser returns from another site. */
function keep(kit: ConsoleKit, request: FastifyRequest, reply: FastifyReply, begun?: Begun): void {
  const until = kit.clock.now() + lifetimeMs;
  setCookie(reply, {
    name: cookieName,
    value: begun === undefined ? '' : seal(kit.mac, purpose, { ...begun, until }),
    age: begun === undefined ? 0 : lifetimeMs / 1_000,
    secure: secureAttribute(request, kit.publicUrl),
    path: organizationPath,
    sameSite: 'Lax',
  });
}

function keptIn({ mac, clock }: ConsoleKit, request: FastifyRequest): Begun | undefined {
  const sealed = cookieIn(request, cookieName) ?? '';
  const kept = unseal(mac, purpose, sealed) as (Begun & { until: number }) | undefined;
  return kept !== undefined && kept.until > clock.now() ? kept : undefined;
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
