/** A list of parts of payments over all teams: refunds, or disputes. Tabs by status, filters, pages, and the list as a file. */
import { type Html, html } from '@tollgate/service-kit';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';
import { csvMenu } from './csv-menu.ts';
import { choice } from './choice.ts';
import { filterChips } from './filter-chips.ts';
import { outcomeNotice } from './notice.ts';
import { entry, environmentChoice, instantEntry } from './payment-filters.ts';
import { paymentPath } from './payment-list.ts';
import { toApiQuery, wrongFilters, wrongTexts } from './payment-query.ts';
import { chip } from './state.ts';
import { pager, tabs } from './table.ts';
import { shortToken } from './token.ts';

interface PartList<Part> {
  /** In the addresses of the console and of the API, and the field of the list. */
  name: 'refunds' | 'disputes';
  words: {
    title: string;
    filters: { from: string; to: string; payment: string };
    empty: string;
    emptyHow: string;
  };
  /** Name of each tab with its status; the first is what there is to watch. */
  views: readonly (readonly [name: string, status: string])[];
  table: (parts: readonly Part[]) => Html;
}

export const partListPage =
  <Part>({ name, words, views, table }: PartList<Part>): Page =>
  async ({ api, query, now }) => {
    const path = `/console/${name}`;
    const wrong = wrongFilters(query);
    const asked = toApiQuery(query, now);
    const status = query.get('status') ?? views[0]?.[1] ?? '';
    if (status !== '') asked.set('status', status);
    type Answer = Partial<Record<string, readonly Part[]>> & { nextCursor?: string };
    const none: Answer = {};
    const [list, { teams }] = await Promise.all([
      wrong.length > 0 ? none : api.get<Answer>(`/api/v1/admin/${name}?${asked.toString()}`),
      api.get<{ teams: string[] }>('/api/v1/admin/teams'),
    ]);
    const parts = list[name] ?? [];
    const empty = html`<p class="empty">${words.empty} <span class="calm">${words.emptyHow}</span></p>`;
    const shown = html`${parts.length === 0 ? empty : table(parts)} ${pager(path, query, list.nextCursor)}`;
    const addressOf = (each: string): string => `${path}?status=${each}`;
    const main = html`<div class="head">
        <h1>${words.title}</h1>
        ${wrong.length > 0 ? undefined : csvMenu(path, asked, now)}
      </div>
      ${tabs(
        words.title,
        addressOf(status),
        views.map(([tab, each]) => [tab, addressOf(each)]),
      )}
      ${filterForm(path, words.filters, { query, status, teams })} ${filterChips(path, query, ['status'])}
      <section id="${name}" data-region="">
        ${wrong.length > 0 ? outcomeNotice({ isDone: false, text: wrongTexts(wrong) }) : shown}
      </section>`;
    const isLive = query.get('cursor') === null && wrong.length === 0;
    return { title: words.title, main, isLive, ...(wrong.length > 0 && { status: 400 }) };
  };

function filterForm(
  path: string,
  words: PartList<never>['words']['filters'],
  { query, status, teams }: { query: URLSearchParams; status: string; teams: readonly string[] },
): Html {
  const { filters } = texts.payments;
  const value = (name: string) => query.get(name) ?? '';
  return html`<form class="filters" action="${path}">
    <input type="hidden" name="status" value="${status}" />
    ${choice('team', filters.team, value('team'), { any: filters.any, options: teams.map((team) => [team, team]) })}
    ${environmentChoice(value('environment'))} ${entry('currency', filters.currency, value('currency'))}
    ${entry('paymentToken', words.payment, value('paymentToken'))}
    ${instantEntry('from', words.from, value('from'))} ${instantEntry('to', words.to, value('to'))}
    <button>${filters.apply}</button>
  </form>`;
}

/** The team of a part; its environment if that is production. */
export const ownerCell = ({ team, environment }: { team?: string; environment: string }): Html => {
  const mode =
    environment === 'sandbox' ? undefined : html` <small class="production">${environment}</small>`;
  return html`<td>${team}${mode}</td>`;
};

export const reviewChip = (reviews: readonly unknown[]): Html | undefined =>
  reviews.length === 0 ? undefined : html` ${chip(texts.payments.review, 'note')}`;

/** Undefined: the payment is not known. */
export const paymentCell = (token: string | undefined): Html =>
  token === undefined
    ? html`<td></td>`
    : html`<td>
        <a href="${paymentPath(token)}" title="${token}"><code>${shortToken(token)}</code></a>
      </td>`;
