/** The reference of the error codes as a page: what `docUrl` of an error leads to. It is made from the list that services answer by. */
import { createHash } from 'node:crypto';
import { foreignErrorsAnchor } from '@tollgate/gateway-api/http';
import { type Html, html, trustedHtml } from '@tollgate/service-kit';
import { type ExplainedError, aboutForeignErrors, explainedErrors } from './error-reference.ts';

const style = `
:root { color-scheme: light dark; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
section { padding: .5rem 0; border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
section:target { background: color-mix(in srgb, Highlight 15%, transparent); }
h2 { margin: 0; font-size: 1rem; }
p { margin: .25rem 0; }
small { opacity: .75; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');
/** The page loads nothing, and nobody frames it. */
export const errorPagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const toSection = ({ code, message, repeat, about }: ExplainedError): Html =>
  html`<section id="${code}">
    <h2>
      <a href="#${code}"><code>${code}</code></a>
    </h2>
    <p>${message}</p>
    <p>${repeat}</p>
    <small>${about}</small>
  </section>`;

export const createErrorPage = (): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Tollgate: error codes</title>
        <style>
          ${trustedHtml(style)}
        </style>
      </head>
      <body>
        <main>
          <h1>Error codes</h1>
          <p>
            An error answer has <code>errors</code>, each with its <code>code</code>, and the
            <code>requestId</code> to ask about: <code>GET /api/v1/requests/{id}</code>, with a key of your
            team, shows what became of the request.
          </p>
          ${explainedErrors.map(toSection)}
          <section id="${foreignErrorsAnchor}">
            <h2>Any other code</h2>
            <p>${aboutForeignErrors}</p>
          </section>
        </main>
      </body>
    </html> `.html;
