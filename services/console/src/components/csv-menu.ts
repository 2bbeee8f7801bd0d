/** Downloads the list as a file, or one whole month of it. */
import { type Html, html } from '@tollgate/service-kit';

const monthsShown = 12;

/** @param asked the list's API query */
export const csvLink = (path: string, asked: URLSearchParams): Html =>
  html`<a class="button" href="${fileAddress(path, asked)}" download>CSV</a>`;

function fileAddress(path: string, asked: URLSearchParams): string {
  const all = new URLSearchParams(asked);
  for (const name of ['perPage', 'cursor']) all.delete(name);
  return `${path}.csv?${all.toString()}`;
}

/** @param asked see {@link csvLink} */
export function csvMenu(path: string, asked: URLSearchParams, now: number): Html {
  const link = (text: string, query: URLSearchParams) =>
    html`<a href="${fileAddress(path, query)}" download>${text}</a>`;
  const first = new Date(now);
  const months = Array.from({ length: monthsShown }, (_, place) => {
    const begin = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - place));
    const end = new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1));
    const query = new URLSearchParams(asked);
    query.set('createdFrom', begin.toISOString());
    query.set('createdBefore', end.toISOString());
    return link(begin.toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }), query);
  });
  return html`<details class="menu">
    <summary class="button">CSV</summary>
    <div>
      ${link('This list', asked)}
      <p class="calm">Whole months (UTC)</p>
      ${months}
    </div>
  </details>`;
}
