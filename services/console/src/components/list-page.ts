/** A page with a list: title, tabs, filters, columns, rows and further pages. All choices of the reader are in the URL. */
import { type Html, html } from '@tollgate/service-kit';
import type { PageContext } from '../page.ts';
import { filterChips } from './filters.ts';
import type { Rendered } from './layout.ts';
import { outcomeNotice, outcomeSection } from './notice.ts';
import { sign } from './state.ts';
import { type List, columnMenu, listTable, pager } from './table.ts';

interface ListPage<Row> {
  title: string;
  path: string;
  list: List<Row>;
  rows: readonly Row[];
  nextCursor: string | undefined;
  /** Text of the link to the next page. @default 'Older' */
  further?: string;
  /** Why the list is empty, and what would fill it. */
  none: string;
  noneHow?: Html | string | undefined;
  /** An empty list is good news. */
  isGoodNews?: true;
  /** Below the title. */
  note?: Html | string;
  /** Next to the title: a link to the list as a file. */
  file?: Html | undefined;
  /** Between the title and the filters: tabs, views or actions. */
  tabs?: Html | undefined;
  filters?: Html;
  /** Filters that the page shows elsewhere than as chips. */
  shownElsewhere?: readonly string[];
  before?: Html | undefined;
  after?: Html | undefined;
  /** Below the list, and not refreshed. */
  below?: Html;
  /** Faults of the filters, shown in place of the rows. */
  wrong?: string | undefined;
  /** The page does not refresh itself. */
  isStill?: true;
}

export function listPage<Row>(
  { query, columnsOf, outcome }: Pick<PageContext, 'query' | 'columnsOf' | 'outcome'>,
  page: ListPage<Row>,
): Rendered {
  const { title, path, list, note, wrong, shownElsewhere, isStill = false } = page;
  const chosen = columnsOf(list.name);
  const shown =
    wrong === undefined ? rowsOf(page, query, chosen) : outcomeNotice({ isDone: false, text: wrong });
  const main = html`<div class="head">
      <h1>${title}</h1>
      ${columnMenu(list, path, query, chosen)} ${page.file}
    </div>
    ${note === undefined ? undefined : html`<p class="calm">${note}</p>`} ${outcomeSection(outcome)}
    ${page.tabs} ${page.filters} ${filterChips(path, query, shownElsewhere)}
    <section
      id="${list.name}"
      data-region=""
      data-further="The list does not refresh while further pages are open. Last update"
    >
      ${shown}
    </section>
    ${page.below}`;
  const isLive = !isStill && wrong === undefined && query.get('cursor') === null;
  return { title, main, isLive, ...(wrong === undefined ? {} : { status: 400 }) };
}

function rowsOf<Row>(
  { path, list, rows, nextCursor, further, none, noneHow, isGoodNews, before, after }: ListPage<Row>,
  query: URLSearchParams,
  chosen: ReadonlySet<string> | undefined,
): Html {
  const empty = html`<p class="empty ${isGoodNews ? 'good' : ''}">
    ${isGoodNews ? sign('good') : undefined} ${none} <span class="calm">${noneHow}</span>
  </p>`;
  return html`${before} ${rows.length === 0 ? empty : listTable(list, rows, chosen)}
  ${pager(path, query, nextCursor, further)} ${after}`;
}
