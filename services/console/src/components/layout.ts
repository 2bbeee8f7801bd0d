/** The layout of every page. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import type { Assets } from '../static-files.ts';
import type { Session } from '../session/sessions.ts';
import { texts } from '../texts.ts';

export interface Rendered {
  title: string;
  main: Html;
  /** Pages with changing content are reloaded in place when it changes. */
  isLive?: boolean;
  /** Content of the search box. */
  search?: string;
  status?: number;
}

export interface Surroundings {
  session?: Session;
  /** The page's address, to highlight it in the navigation. */
  path: string;
  /** URLs of the style sheet and the script. */
  assets: Assets['addresses'];
  hasSandbox: boolean;
}

const places = [
  ['/console', 'overview'],
  ['/console/payments', 'payments'],
  ['/console/money', 'money'],
  ['/console/refunds', 'refunds'],
  ['/console/disputes', 'disputes'],
  ['/console/payouts', 'payouts'],
  ['/console/reviews', 'reviews'],
  ['/console/reconciliations', 'reconciliations'],
  ['/console/webhooks', 'webhooks'],
  ['/console/requests', 'requests'],
  ['/console/accounts', 'accounts'],
  ['/console/teams', 'teams'],
  ['/console/security-log', 'securityLog'],
  ['/console/sandbox', 'sandbox'],
] as const;

export function layout(page: Rendered, { session, path, assets, hasSandbox }: Surroundings): string {
  const { title, main, isLive = false } = page;
  // Environment of the Payment Service that is called: real money or not.
  const environment = hasSandbox ? 'sandbox' : 'production';
  const live = isLive
    ? html` data-live="" data-stale="Connection lost. Last update" data-news="new" data-show="Show"`
    : undefined;
  return html`<!doctype html>
    <html lang="en" data-environment="${environment}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Tollgate</title>
        <link rel="icon" href="${assets.icons[environment]}" />
        <link rel="stylesheet" href="${assets.style}" />
        <script type="module" src="${assets.script}"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="bar">
          <a class="brand" href="/console"
            >${mark}Tollgate <small class="environment">${environmentNames[environment]}</small></a
          >
          ${session === undefined ? undefined : navigation(path, session, hasSandbox)}
          ${session === undefined ? undefined : searchBox(page.search ?? '')}
          ${session === undefined ? undefined : who(session)}
        </header>
        <main id="main" tabindex="-1" ${live}>${main}</main>
        ${help}
      </body>
    </html>`.html;
}

const environmentNames = { sandbox: 'Sandbox', production: 'Production' };

/** The logo: a gate of two posts and a bar. */
const mark = html`<svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
  <path d="M4 3v14M4 7l13-3.5M16 10v7" />
</svg>`;

/** Pages reached only by links and the search. */
export const furtherPlaces = [
  ['/console/money/journal', 'journal'],
  ['/console/people', 'people'],
] as const;

/** Navigation pages that the person may open. */
export function placesFor({ grants }: Pick<Session, 'grants'>, hasSandbox: boolean) {
  const seesAll = mayDo(grants, 'operators:read', 'everywhere');
  return places.filter(([, name]) => (name !== 'sandbox' || hasSandbox) && (name !== 'accounts' || seesAll));
}

function navigation(path: string, session: Session, hasSandbox: boolean): Html {
  const shown = placesFor(session, hasSandbox);
  const links = shown.map(([address, name]) => {
    const isHere = address === '/console' ? path === address : path.startsWith(address);
    const current = isHere ? html` aria-current="page"` : undefined;
    return html`<a href="${address}" ${current}>${texts.nav[name]}</a>`;
  });
  return html`<nav aria-label="Main">${links}</nav>`;
}

const searchBox = (value: string): Html =>
  html`<form class="search" role="search" action="/console/search">
    <input
      type="search"
      name="q"
      value="${value}"
      aria-label="Search"
      placeholder="Token, request, order number, *1251, status:approved"
      autocomplete="off"
      spellcheck="false"
      maxlength="255"
    /><kbd aria-hidden="true">/</kbd>
  </form>`;

const who = ({ person, grants, csrf }: Session): Html =>
  html`<div class="who">
    <span class="person" title="${formatGrants(grants)}"
      >${person} <small>${formatGrants(grants)}</small></span
    >
    <button type="button" class="quiet" data-theme-switch="" title="Light or dark" aria-label="Light or dark">
      <svg class="sign" viewBox="0 0 15 15" aria-hidden="true">
        <path d="M7.5 2a5.5 5.5 0 1 0 0 11zM7.5 2a5.5 5.5 0 0 1 0 11" />
      </svg>
    </button>
    <form method="post" action="/console/sign-out">
      <input type="hidden" name="csrf" value="${csrf}" />
      <button class="quiet">Sign out</button>
    </form>
  </div>`;

const keys = [
  ['/', 'search'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['g o', 'overview'],
  ['g p', 'payments'],
  ['g u', 'payouts'],
  ['g r', 'reviews'],
  ['g c', 'reconciliation'],
  ['g w', 'webhooks'],
  ['g a', 'accounts'],
  ['g t', 'teams and keys'],
  ['g l', 'security log'],
  ['g s', 'sandbox'],
  ['Esc', 'leave the box'],
  ['?', 'this list'],
] as const;

const help = html`<dialog id="help" aria-labelledby="help-title">
  <h2 id="help-title">Keyboard</h2>
  <dl class="keys">
    ${keys.map(
      ([key, does]) =>
        html`<div>
          <dt><kbd>${key}</kbd></dt>
          <dd>${does}</dd>
        </div>`,
    )}
  </dl>
  <form method="dialog"><button>Close</button></form>
</dialog>`;
