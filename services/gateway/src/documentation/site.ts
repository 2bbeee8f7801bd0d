/** The documentation site: pages from `docs/`, the API reference, search. Each file is rendered on its first request. */
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { createOpenApiDocument } from '@tollgate/gateway-api/http';
import { once } from '@tollgate/service-kit';
import { referencePages } from './api-reference.ts';
import { renderMarkdown } from './markdown.ts';
import { readNavigation, readText, workspace } from './navigation.ts';
import { type Page, type PageSection, renderPage, rootOf } from './page.ts';
import { type Found, entriesOf } from './search-index.ts';

/** Cached: it takes a quarter of a second, and does not change while a process runs. */
export const openApiDocument = once(createOpenApiDocument);

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

export const contentTypeOf = (path: string): string => types[path.slice(path.lastIndexOf('.') + 1)] ?? '';

/** By path from the root of the site. */
type Site = ReadonlyMap<string, () => string | Promise<string>>;

export function createSite(): Site {
  const sections = readNavigation();
  const files = filesOfDocs();
  const paths = new Map([
    ...sections.flatMap(({ sources }) => sources.map((source) => [source, sitePathOf(source)] as const)),
    ...files.map((file) => [file, sitePathOf(file)] as const),
  ]);
  const pageSections: readonly PageSection[] = sections.map(({ title, sources }) => ({
    title,
    pages: sources.flatMap((source) =>
      source === 'openapi' ? referencePages(openApiDocument()) : markdownPage(source, paths),
    ),
  }));
  const pages = pageSections.flatMap((section) => section.pages);
  return new Map<string, () => string | Promise<string>>([
    ...pages.map((page) => [page.path, () => renderPage(page, pageSections)] as const),
    ...files.map((file) => [sitePathOf(file), () => readText(file)] as const),
    ['openapi.json', () => JSON.stringify(openApiDocument())],
    ['static/site.css', () => readText('services/gateway/src/documentation/static/site.css')],
    ['static/site.js', () => readText('services/gateway/src/documentation/static/site.js')],
    ['static/minisearch.js', readMiniSearch],
    ['static/search-index.js', () => searchIndexOf(pages)],
  ]);
}

/** Pictures and documents for programs, next to the pages that link to them. */
const filesOfDocs = (): readonly string[] =>
  readdirSync(join(workspace, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(svg|json)$/.test(name) && name !== 'navigation.json')
    .map((name) => posix.join('docs', name.replaceAll('\\', '/')));

/** `docs/team/README.md` is `team/index.html`; of the workspace's root, `ARCHITECTURE.md` is `architecture.html`. */
export function sitePathOf(source: string): string {
  if (source === 'openapi') return 'api/index.html';
  const name = source.startsWith('docs/') ? source.slice('docs/'.length) : source.toLowerCase();
  return name.replace(/(^|\/)readme\.md$/i, '$1index.html').replace(/\.md$/, '.html');
}

function markdownPage(source: string, paths: ReadonlyMap<string, string>): Page {
  const path = sitePathOf(source);
  const title = /^# +(.+)$/m.exec(readText(source))?.[1]?.replaceAll('`', '') ?? source;
  return {
    path,
    title,
    content: once(() => renderMarkdown(readText(source), (target) => addressOf(target, source, paths))),
  };
}

/** Undefined for a missing page, such as the source code. A folder is its first page. */
function addressOf(target: string, source: string, paths: ReadonlyMap<string, string>): string | undefined {
  const [file = '', anchor] = target.split('#');
  if (file === '') return target;
  const name = posix.join(posix.dirname(source), file);
  const isInFolder = (each: string) => each.startsWith(`${name.replace(/\/$/, '')}/`);
  const path = paths.get(name) ?? paths.get([...paths.keys()].find(isInFolder) ?? '');
  if (path === undefined) return undefined;
  return `${rootOf(sitePathOf(source))}${path}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** The library's build for browsers. */
function readMiniSearch(): string {
  const require = createRequire(import.meta.url);
  return readFileSync(join(dirname(require.resolve('minisearch')), '../umd/index.js'), 'utf8').replace(
    /\n\/\/# sourceMappingURL=.*/,
    '',
  );
}

/**
 * A script instead of JSON, because a page opened from a folder may not fetch. Rendering all pages takes half a
 * second, so requests are served in between.
 */
async function searchIndexOf(pages: readonly Page[]): Promise<string> {
  const entries: Found[] = [];
  for (const { path, title, content } of pages) {
    entries.push(...entriesOf(path, title, content()));
    await new Promise(setImmediate);
  }
  return `window.tollgateSearchIndex=${JSON.stringify(entries).replaceAll('</', String.raw`<\/`)};\n`;
}
