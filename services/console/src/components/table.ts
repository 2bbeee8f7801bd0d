/** A table of rows that are led through by the keyboard, and scrolled sideways where it is too wide. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';

export interface Column {
  name: Html | string;
  isNumber?: true;
  /** Left out where there is little room. */
  isSecond?: true;
}

export const rowTable = (label: string, columns: readonly Column[], rows: readonly Html[]): Html =>
  html`<div class="wide" tabindex="0" role="region" aria-label="${label}">
    <table class="rows">
      <thead>
        <tr>
          ${columns.map(({ name, ...column }) => html`<th scope="col" class="${classOf(column)}">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;

const classOf = ({ isNumber, isSecond }: Omit<Column, 'name'>): string =>
  [isNumber ? 'number' : '', isSecond ? 'second' : ''].join(' ').trim();

/** One of several lists of the same things; each is an address. */
export const tabs = (
  label: string,
  here: string,
  all: readonly (readonly [name: string, address: string])[],
): Html =>
  html`<nav class="views" aria-label="${label}">
    ${all.map(([name, address]) => {
      const current = here === address ? html` aria-current="true"` : undefined;
      return html`<a href="${address}" ${current}>${name}</a>`;
    })}
  </nav>`;

/** To the first page and the next one. */
export function pager(
  path: string,
  query: URLSearchParams,
  nextCursor: string | undefined,
  nextText: string = texts.payments.older,
): Html {
  const to = (cursor?: string) => {
    const asked = new URLSearchParams(query);
    asked.delete('cursor');
    if (cursor !== undefined) asked.set('cursor', cursor);
    return asked.size === 0 ? path : `${path}?${asked.toString()}`;
  };
  const first =
    query.get('cursor') === null ? undefined : html`<a href="${to()}">${texts.payments.first}</a>`;
  const next =
    nextCursor === undefined ? undefined : html`<a rel="next" href="${to(nextCursor)}">${nextText}</a>`;
  return html`<nav class="pager" aria-label="Pages">${first}${next}</nav>`;
}
