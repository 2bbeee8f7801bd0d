/** The frame of each page of the documentation site. */
import { createHash } from 'node:crypto';
import { type Html, html, trustedHtml } from '@tollgate/service-kit';
import { sectionsOf } from './search-index.ts';

export interface Page {
  /** From the root of the site: `team/quickstart.html`. */
  path: string;
  title: string;
  content: () => string;
}

export interface PageSection {
  title: string;
  pages: readonly Page[];
}

/** Before the page is drawn, so that a reader's choice of colors does not flash. */
const themeScript =
  "try{const t=localStorage.getItem('docs-theme');if(t)document.documentElement.dataset.theme=t}catch{}";
const themeScriptHash = createHash('sha256').update(themeScript).digest('base64');

const themeElement = trustedHtml(`<script>${themeScript}</script>`);

/** Nothing is loaded from or sent to another host, and no page is framed. */
export const pagePolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${themeScriptHash}'`,
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

/** The relative address of the site's root, so that a page works in any folder and on any host. */
export const rootOf = (path: string): string => '../'.repeat(path.split('/').length - 1) || './';

export function renderPage(page: Page, sections: readonly PageSection[]): string {
  const root = rootOf(page.path);
  const content = page.content();
  return html`<!doctype html>
    <html lang="en" data-root="${root}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title} · Tollgate</title>
        ${themeElement}
        <link rel="stylesheet" href="${root}static/site.css" />
        <script src="${root}static/site.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header>
          <a class="home" href="${root}index.html">Tollgate</a>
          <search>
            <input type="search" id="search" placeholder="Search (press /)" aria-label="Search" hidden />
            <ol id="results" hidden></ol>
          </search>
          <a class="menu" href="#navigation">Menu</a>
          <button id="theme" hidden>Dark</button>
        </header>
        <main id="content">${trustedHtml(content)} ${neighborsOf(page, sections, root)}</main>
        <nav id="navigation" aria-label="Pages">
          ${sections.map((section) => navigationOf(section, page, content, root))}
        </nav>
      </body>
    </html> `.html;
}

function navigationOf(section: PageSection, current: Page, content: string, root: string): Html | undefined {
  const [first] = section.pages;
  if (first === undefined) return undefined;
  if (!section.pages.includes(current))
    return html`<p><a href="${root}${first.path}">${section.title}</a></p>`;
  return html`<p>${section.title}</p>
    <ul>
      ${section.pages.map(
        (page) =>
          html`<li>
            <a href="${root}${page.path}" ${page === current ? trustedHtml('aria-current="page"') : undefined}
              >${page.title}</a
            >${page === current ? headingsOf(content) : undefined}
          </li>`,
      )}
    </ul>`;
}

function headingsOf(content: string): Html | undefined {
  const headings = [...content.matchAll(/<h2 id="([^"]+)">/g)].map(([, anchor]) => anchor);
  if (headings.length < 2) return undefined;
  const shown = sectionsOf(content).filter(({ anchor }) => headings.includes(anchor));
  return html`<ul>
    ${shown.map(({ anchor, heading }) => html`<li><a href="#${anchor}">${heading}</a></li>`)}
  </ul>`;
}

function neighborsOf(page: Page, sections: readonly PageSection[], root: string): Html | undefined {
  const pages = sections.flatMap((section) => section.pages);
  const index = pages.indexOf(page);
  const [previous, next] = [pages[index - 1], pages[index + 1]];
  return html`<footer>
    ${previous && html`<a rel="prev" href="${root}${previous.path}">← ${previous.title}</a>`}
    ${next && html`<a rel="next" href="${root}${next.path}">${next.title} →</a>`}
  </footer>`;
}
