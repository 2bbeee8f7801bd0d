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
    ? html` data-live="" data-stale="${texts.stale}" data-news="${texts.news}"
      data-show="${texts.payments.filters.apply}"`
    : undefined;
  return html`<!doctype html>
    <html lang="en" data-environment="${environment}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · ${texts.product}</title>
        <link rel="icon" href="${assets.icons[environment]}" />
        <link rel="stylesheet" href="${assets.style}" />
        <script type="module" src="${assets.script}"></script>
      </head>
      <body>
        <a class="skip" href="#main">${texts.skip}</a>
        <header class="bar">
          <a class="brand" href="/console"
            >${mark}${texts.product} <small class="environment">${texts.environments[environment]}</small></a
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

/** The logo: a gate of two posts and a bar. */
const mark = html`<svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
  <path d="M4 3v14M4 7l13-3.5M16 10v7" />
</svg>`;

/** Pages reached only by links and the search. */
export const furtherPlaces = [
  ['/console/approval', 'approval'],
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
      aria-label="${texts.search.label}"
      placeholder="${texts.search.placeholder}"
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
    <button
      type="button"
      class="quiet"
      data-theme-switch=""
      title="${texts.theme}"
      aria-label="${texts.theme}"
    >
      <svg class="sign" viewBox="0 0 15 15" aria-hidden="true">
        <path d="M7.5 2a5.5 5.5 0 1 0 0 11zM7.5 2a5.5 5.5 0 0 1 0 11" />
      </svg>
    </button>
    <form method="post" action="/console/sign-out">
      <input type="hidden" name="csrf" value="${csrf}" />
      <button class="quiet">${texts.signIn.out}</button>
    </form>
  </div>`;

const help = html`<dialog id="help" aria-labelledby="help-title">
  <h2 id="help-title">${texts.help.title}</h2>
  <dl class="keys">
    ${texts.help.keys.map(
      ([key, does]) =>
        html`<div>
          <dt><kbd>${key}</kbd></dt>
          <dd>${does}</dd>
        </div>`,
    )}
  </dl>
  <form method="dialog"><button>${texts.help.close}</button></form>
</dialog>`;
