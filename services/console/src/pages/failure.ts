/** Error pages. */
import { currentRequest, html } from '@tollgate/service-kit';
import type { Rendered } from '../components/layout.ts';
import { copyable } from '../components/token.ts';
import { texts } from '../texts.ts';

/** @param requestId of the failed request, if it is not the page's own */
export const failurePage = (
  status: number,
  title: string,
  text: string,
  requestId = currentRequest()?.id,
): Rendered => ({
  title,
  status: status < 400 ? 500 : status,
  main: html`<section class="alone">
    <h1>${title}</h1>
    <p>${text}</p>
    ${requestId === undefined ? undefined : html`<p class="calm">Request ${copyable(requestId)}</p>`}
  </section>`,
});

/**
 * @param organization URL for signing in with the organization's account
 * @param message why a session ended
 */
export const signInFirstPage = (organization: string | undefined, message?: string): Rendered => ({
  title: texts.errors.notSignedIn,
  status: 401,
  main: html`<section class="alone">
    <h1>${texts.errors.notSignedIn}</h1>
    ${message === undefined ? undefined : html`<p>${message}</p>`}
    ${organization === undefined ? undefined : html`<p><a class="button" href="${organization}">Sign in with your organization</a></p>`}
    <p>npm start prints a link to sign in. On a gateway that runs already, this command prints one:</p>
    <pre class="command"><code>${'npm run tollgate -- --as <you> operator link --role operator'}</code></pre>
  </section>`,
});
