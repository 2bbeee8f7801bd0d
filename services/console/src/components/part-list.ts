/**
 * A list over all teams with tabs by state: refunds, disputes or payouts. With filters, columns, pages and file export.
 */
import { type Html, html } from '@tollgate/service-kit';
import type { Page } from '../page.ts';
import { csvMenu } from './csv-menu.ts';
import { filterChips } from './filter-chips.ts';
import { outcomeNotice } from './notice.ts';
import { entry, instantEntry, ownerChoices } from './payment-filters.ts';
import { paymentPath } from './payment-list.ts';
import { toApiQuery, wrongFilters, wrongTexts } from './payment-query.ts';
import { chip } from './state.ts';
import { type List, columnMenu, listTable, pager, tabs } from './table.ts';
import { shortToken } from './token.ts';

interface PartList<Part> {
  /** Name in console and API URLs, and the list's field. */
  name: 'refunds' | 'disputes' | 'payouts';
  title: string;
  empty: string;
  /** When entries appear. */
  emptyHow: string;
  /** The filter controlled by the tabs. */
  tabFilter: 'status' | 'phase';
  /** Label of each tab with its value; the first one is the most important to watch. */
  views: readonly (readonly [name: string, value: string])[];
  /** Filters in addition to team and environment, with labels; `from` and `to` are times. */
  filters: Readonly<Record<string, string>>;
  list: List<Part>;
  hasFile?: boolean;
}

export const partListPage =
  <Part>({
    name,
    title,
    empty,
    emptyHow,
    tabFilter,
    views,
    filters,
    list,
    hasFile = true,
  }: PartList<Part>): Page =>
  async ({ api, query, now, columnsOf }) => {
    const path = `/console/${name}`;
    const wrong = wrongFilters(query);
    const asked = toApiQuery(query, now);
    const view = query.get(tabFilter) ?? views[0]?.[1] ?? '';
    if (view !== '') asked.set(tabFilter, view);
    type Answer = Partial<Record<string, readonly Part[]>> & { nextCursor?: string };
    const unasked: Answer = {};
    const [answer, { teams }] = await Promise.all([
      wrong.length > 0
        ? unasked
        : (api.get<'OperatorRefundList'>(
            `/api/v1/admin/${name}?${asked.toString()}`,
          ) as unknown as Promise<Answer>),
      api.get<'TeamNames'>('/api/v1/admin/teams'),
    ]);
    const parts = answer[name] ?? [];
    const chosen = columnsOf(name);
    const none = html`<p class="empty">${empty} <span class="calm">${emptyHow}</span></p>`;
    const table = parts.length === 0 ? none : listTable(list, parts, chosen);
    const addressOf = (each: string): string => `${path}?${tabFilter}=${each}`;
    const main = html`<div class="head">
        <h1>${title}</h1>
        ${columnMenu(list, path, query, chosen)}
        ${wrong.length > 0 || !hasFile ? undefined : csvMenu(path, asked, now)}
      </div>
      ${tabs(
        title,
        addressOf(view),
        views.map(([tab, each]) => [tab, addressOf(each)]),
      )}
      <form class="filters" action="${path}">
        <input type="hidden" name="${tabFilter}" value="${view}" />
        ${ownerChoices(query, teams)}
        ${Object.entries(filters).map(([filter, label]) =>
          (filter === 'from' || filter === 'to' ? instantEntry : entry)(
            filter,
            label,
            query.get(filter) ?? '',
          ),
        )}
        <button>Show</button>
      </form>
      ${filterChips(path, query, [tabFilter])}
      <section id="${name}" data-region="">
        ${wrong.length > 0 ? outcomeNotice({ isDone: false, text: wrongTexts(wrong) }) : html`${table} ${pager(path, query, answer.nextCursor)}`}
      </section>`;
    const isLive = query.get('cursor') === null && wrong.length === 0;
    return { title, main, isLive, ...(wrong.length > 0 && { status: 400 }) };
  };

export const reviewChip = (reviews: readonly unknown[]): Html | undefined =>
  reviews.length === 0 ? undefined : html` ${chip('Review', 'note')}`;

/** Shows a part by its own id. A part without a known payment has no page. */
export function paymentLink(payment: string | undefined, id: string): Html {
  const shown = html`<code title="${id}">${shortToken(id)}</code>`;
  return payment === undefined ? shown : html`<a href="${paymentPath(payment)}">${shown}</a>`;
}
