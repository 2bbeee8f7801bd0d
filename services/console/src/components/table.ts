/** Tables with columns of fixed width that the reader chooses. */
import { type Html, html } from '@tollgate/service-kit';

export interface ListColumn<Row> {
  /**
   * Used in the URL, in the cookie, and as the class of its cells. Must not be a class used elsewhere in the style
   * sheet.
   */
  id: string;
  name: string;
  /** Shown above the cells instead of the name. */
  head?: Html;
  cell(row: Row): Html | string | undefined;
  /** Width class of the style sheet; columns without one share the rest. */
  width?: 'time' | 'long-time' | 'state' | 'chip' | 'amount' | 'token' | 'name' | 'word' | 'count';
  isNumber?: true;
  /** The reader can hide all columns except `always`; `asked` columns are hidden by default. */
  use?: 'always' | 'asked';
  /** Hidden on narrow screens. */
  isSecond?: true;
  sort?: 'ascending' | 'descending';
}

/** A column by its id and name, and what distinguishes it from a plain one. */
export const column = <Row>(
  id: string,
  name: string,
  cell: ListColumn<Row>['cell'],
  look: Omit<Partial<ListColumn<Row>>, 'id' | 'name' | 'cell'> = {},
): ListColumn<Row> => ({ id, name, cell, ...look });

export interface List<Row> {
  /** Identifies the choice of columns in the reader's browser. */
  name: string;
  label: string;
  /** The first cell contains the link. */
  columns: readonly ListColumn<Row>[];
  /** Identifies a row while the list is refreshed. */
  keyOf(row: Row): string;
  /** Groups rows by the day of their first time. */
  hasDays?: boolean;
  /** A second line below the columns. */
  detail?(row: Row): Html | undefined;
}

/** @param chosen ids of columns; the default ones if undefined */
export function listTable<Row>(
  { label, columns, keyOf, hasDays = false, detail }: List<Row>,
  rows: readonly Row[],
  chosen?: ReadonlySet<string>,
): Html {
  const shown = columns.filter((column) => isShown(column, chosen));
  const lines = rows.map((row) => {
    const second = detail?.(row);
    return html`<tr data-row="${keyOf(row)}">
        ${shown.map((column, place) => listCell(column, row, place === 0))}
      </tr>
      ${
        second === undefined
          ? undefined
          : html`<tr class="detail">
              <td colspan="${shown.length}">${second}</td>
            </tr>`
      }`;
  });
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}">
    <table class="rows list" ${hasDays ? html`data-days=""` : undefined}>
      <thead>
        <tr>
          ${shown.map(listHead)}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
  </div>`;
}

function isShown<Row>({ id, use }: ListColumn<Row>, chosen: ReadonlySet<string> | undefined): boolean {
  if (use === 'always') return true;
  return chosen === undefined ? use === undefined : chosen.has(id);
}

const classesOf = (...names: readonly (string | false | undefined)[]): string =>
  names.filter((name) => typeof name === 'string').join(' ');

function listHead<Row>({ id, name, head, width, isNumber, isSecond, sort }: ListColumn<Row>): Html {
  const classes = classesOf(id, width && `w-${width}`, isNumber && 'number', isSecond && 'second');
  const sorted = sort === undefined ? undefined : html` aria-sort="${sort}"`;
  return html`<th scope="col" class="${classes}" ${sorted}>${head ?? name}</th>`;
}

/** On a phone, these have a place of their own, without a label. */
const placed: ReadonlySet<string> = new Set(['state', 'amount', 'team', 'created']);

/** The tooltip contains the full text if it is cut off. */
function listCell<Row>(
  { id, name, cell, isNumber, isSecond }: ListColumn<Row>,
  row: Row,
  isFirst: boolean,
): Html {
  const content = cell(row);
  const title = typeof content === 'string' && content !== '' ? html` title="${content}"` : undefined;
  const classes = classesOf(id, isFirst && 'key', isNumber && 'number', isSecond && 'second');
  // On a phone, there is no header above it.
  const label = isFirst || placed.has(id) ? undefined : html` data-name="${name}"`;
  return html`<td class="${classes}" ${title}${label}>${content}</td>`;
}

/** Submitted by name in the form: `column` in the URL, and stored in the reader's browser. */
export function columnMenu<Row>(
  { name: list, columns }: List<Row>,
  path: string,
  query: URLSearchParams,
  chosen: ReadonlySet<string> | undefined,
): Html {
  const kept = [...query].filter(([name]) => name !== 'column' && name !== 'cursor');
  const checks = columns
    .filter(({ use }) => use !== 'always')
    .map((column) => {
      const checked = isShown(column, chosen) ? html` checked` : undefined;
      return html`<label class="check"
        ><input type="checkbox" name="column" value="${column.id}" ${checked} />${column.name}</label
      >`;
    });
  return html`<details class="menu">
    <summary class="button">Columns</summary>
    <form class="columns" action="${path}" data-list="${list}">
      ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)} ${checks}
      <button>Show</button>
    </form>
  </details>`;
}

/** One of several variants of a list, each with its own URL. */
export const tabs = (
  label: string,
  here: string,
  all: readonly (readonly [name: string, address: string])[],
  further?: Html,
): Html =>
  html`<nav class="views" aria-label="${label}">
    ${all.map(([name, address]) => {
      const current = here === address ? html` aria-current="true"` : undefined;
      return html`<a href="${address}" ${current}>${name}</a>`;
    })}
    ${further}
  </nav>`;

/** Links to the first and the next page. */
export function pager(
  path: string,
  query: URLSearchParams,
  nextCursor: string | undefined,
  nextText: string = 'Older',
): Html {
  const to = (cursor?: string) => {
    const asked = new URLSearchParams(query);
    asked.delete('cursor');
    if (cursor !== undefined) asked.set('cursor', cursor);
    return asked.size === 0 ? path : `${path}?${asked.toString()}`;
  };
  const first = query.get('cursor') === null ? undefined : html`<a href="${to()}">First page</a>`;
  const next =
    nextCursor === undefined ? undefined : html`<a rel="next" href="${to(nextCursor)}">${nextText}</a>`;
  return html`<nav class="pager" aria-label="Pages">${first}${next}</nav>`;
}
