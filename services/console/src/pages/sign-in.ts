/** The page that a link to sign in leads to: pressing its button uses the link up, opening it does not. */
import { html } from '@tollgate/service-kit';
import { type Operator, formatGrants } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import type { Rendered } from '../components/layout.ts';
import { type ConsoleKit, send } from '../page.ts';
import { isFromHere, isOwnForm } from '../session/forgery.ts';
import { secureAttribute } from '../session/secure-cookie.ts';
import { setCookie } from '../session/sessions.ts';
import { texts } from '../texts.ts';
import { failurePage } from './failure.ts';

export function registerSignIn(app: FastifyInstance, kit: ConsoleKit): void {
  const { sessions } = kit;

  app.get('/console/sign-in', async (request, reply) => {
    const link = new URLSearchParams(request.url.split('?', 2)[1] ?? '').get('link') ?? '';
    const claims = sessions.whom(link);
    if (claims === undefined) return send(kit, request, reply, notValid());
    return send(kit, request, reply, confirmationPage(claims, link));
  });

  app.post('/console/sign-in', async (request, reply) => {
    const link = request.body instanceof URLSearchParams ? (request.body.get('link') ?? '') : '';
    const begun = isFromHere(request.headers) ? sessions.signIn(link) : undefined;
    if (begun === undefined) return send(kit, request, reply, notValid());
    // Nobody is in the console whom the security log does not know of.
    const api = kit.apiOf(begun.session, request.ip);
    const recorded = await api.call({ method: 'POST', path: '/api/v1/admin/sign-ins', body: {} });
    if (recorded.kind === 'refused')
      return send(kit, request, reply, failurePage(503, texts.errors.title, texts.errors.unavailable));
    setCookie(reply, begun.cookie, secureAttribute(request, kit.publicUrl));
    return reply.redirect('/console', 303);
  });

  app.post('/console/sign-out', async (request, reply) => {
    const session = sessions.of(request);
    const given = request.body instanceof URLSearchParams ? request.body.get('csrf') : null;
    if (session !== undefined && isOwnForm(request, session, given ?? undefined)) {
      sessions.end(session);
      setCookie(reply, undefined, secureAttribute(request, kit.publicUrl));
    }
    return reply.redirect('/console', 303);
  });
}

/** Pressing the button uses the link up; the page shows who will be signed in. */
export const confirmationPage = (
  { person, grants }: Pick<Operator, 'person' | 'grants'>,
  link: string,
): Rendered => ({
  title: texts.signIn.title,
  main: html`<section class="alone">
    <h1>${texts.signIn.title}</h1>
    <p>${texts.signIn.ask(person, formatGrants(grants))}</p>
    <form method="post" action="/console/sign-in">
      <input type="hidden" name="link" value="${link}" />
      <button class="strong" autofocus>${texts.signIn.button}</button>
    </form>
  </section>`,
});

const notValid = () => failurePage(401, texts.signIn.none, texts.signIn.usedUp);
