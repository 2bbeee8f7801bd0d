/** The page of a sign-in link: pressing its button uses the link up, opening it does not. */
import { html } from '@tollgate/service-kit';
import { type Operator, type OperatorCredentials, formatGrants, sessionLifetimeMs } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import type { Api } from '../api.ts';
import type { Rendered } from '../components/layout.ts';
import { type ConsoleKit, send } from '../page.ts';
import { secureAttribute, setCookie } from '../session/cookies.ts';
import { isFromHere, isOwnForm } from '../session/forgery.ts';
import { takeReturnAddress } from '../session/return-address.ts';
import { sessionCookie } from '../session/sessions.ts';
import { texts } from '../texts.ts';
import { failurePage } from './failure.ts';

interface SignInDependencies {
  credentials: Pick<OperatorCredentials, 'open'>;
  shortLinks: ReadonlyMap<string, string>;
  apiOf: (bearer: () => string, address: string) => Pick<Api, 'post'>;
}

export function registerSignIn(
  app: FastifyInstance,
  kit: ConsoleKit,
  { credentials, shortLinks, apiOf }: SignInDependencies,
): void {
  const { sessions } = kit;
  const unavailable = () => failurePage(503, texts.errors.title, texts.errors.unavailable);

  app.get('/console/sign-in', async (request, reply) => {
    const asked = new URLSearchParams(request.url.split('?', 2)[1] ?? '').get('link') ?? '';
    const link = shortLinks.get(asked) ?? asked;
    const claims = credentials.open(link, 'sign-in');
    if (claims === undefined) return send(kit, request, reply, notValid());
    return send(kit, request, reply, confirmationPage(claims, link));
  });

  app.post('/console/sign-in', async (request, reply) => {
    const link = request.body instanceof URLSearchParams ? (request.body.get('link') ?? '') : '';
    if (!isFromHere(request.headers) || credentials.open(link, 'sign-in') === undefined)
      return send(kit, request, reply, notValid());
    // A new session: a cookie from before the sign-in grants no access to it.
    const api = apiOf(() => link, request.ip);
    const answer = await api.post<{ session: string }>('/api/v1/admin/sign-ins');
    if (answer.kind === 'refused')
      return send(kit, request, reply, answer.status === 401 ? notValid() : unavailable());
    const secure = secureAttribute(request, kit.publicUrl);
    const value = answer.body.session;
    setCookie(reply, { name: sessionCookie, value, age: sessionLifetimeMs / 1_000, secure });
    return reply.redirect(takeReturnAddress(request, reply, secure), 303);
  });

  app.post('/console/sign-out', async (request, reply) => {
    const { session } = await sessions.of(request);
    const given = request.body instanceof URLSearchParams ? request.body.get('csrf') : null;
    if (session === undefined || !isOwnForm(request, session, given ?? undefined))
      return reply.redirect('/console', 303);
    const secure = secureAttribute(request, kit.publicUrl);
    setCookie(reply, { name: sessionCookie, value: '', age: 0, secure });
    const api = kit.apiOf(session, request.ip);
    const answer = await api.post('/api/v1/admin/me/revoke', { credentialId: session.id });
    if (answer.kind !== 'refused') return reply.redirect('/console', 303);
    // A copy of the cookie is still valid.
    const text =
      'You are signed out in this browser, but the session could not be revoked. Sign in again later and revoke it (Security log, Tokens and sessions).';
    return send(kit, request, reply, failurePage(503, texts.errors.title, text));
  });
}

/** Pressing the button uses the link up; the page shows who will be signed in. */
export const confirmationPage = (
  { person, grants }: Pick<Operator, 'person' | 'grants'>,
  link: string,
): Rendered => ({
  title: 'Sign in',
  main: html`<section class="alone">
    <h1>Sign in</h1>
    <p>Sign in as ${person}, with the role ${formatGrants(grants)}.</p>
    <form method="post" action="/console/sign-in">
      <input type="hidden" name="link" value="${link}" />
      <button class="strong" autofocus>Sign in</button>
    </form>
  </section>`,
});

const notValid = () =>
  failurePage(
    401,
    texts.errors.notSignedIn,
    'This link is not valid: it expired, was used, or is incomplete. Request another one.',
  );
