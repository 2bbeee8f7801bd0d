/** Pages that say why there is no other. */
import { html } from '@tollgate/service-kit';
import type { Rendered } from '../components/layout.ts';
import { texts } from '../texts.ts';

export const failurePage = (status: number, title: string, text: string, requestId?: string): Rendered => ({
  ...{ title, status: status < 400 ? 500 : status },
  main: html`<section class="alone">
    <h1>${title}</h1>
    <p>${text}</p>
    ${
      requestId === undefined
        ? undefined
        : html`<p class="calm">${texts.errors.requestId} <code>${requestId}</code></p>`
    }
  </section>`,
});

export const signInFirstPage = (): Rendered => ({
  ...{ title: texts.signIn.none, status: 401 },
  main: html`<section class="alone">
    <h1>${texts.signIn.none}</h1>
    <p>${texts.signIn.how}</p>
    <pre class="command"><code>${texts.signIn.command}</code></pre>
  </section>`,
});
