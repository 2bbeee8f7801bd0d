/** The payments of all teams: filters, views and pages are in the address, so that a link shows the same to a colleague. */
import { type Html, html } from '@tollgate/service-kit';
import { parseAmount } from '../components/amount.ts';
import { outcomeNotice } from '../components/notice.ts';
import { filterForm, metadataIn } from '../components/payment-filters.ts';
import { type ListedPayment, type Sorting, paymentTable } from '../components/payment-list.ts';
import { type SavedView, viewLinks } from '../components/payment-views.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const perPage = 50;
const { filters: words } = texts.payments;

/** By name in the address. */
const filterNames = [
  ...['phase', 'team', 'environment', 'currency', 'orderNumber', 'last', 'amountFrom', 'amountTo'],
  ...['sanitizedMask', 'account', 'status', 'needsReview', 'before', 'metadata'],
] as const;

const lastMs: Readonly<Record<string, number>> = {
  ...{ '30m': 30 * 60_000, '1h': 3_600_000, '4h': 4 * 3_600_000, '24h': 24 * 3_600_000 },
  '7d': 7 * 24 * 3_600_000,
};

interface PaymentList {
  payments: ListedPayment[];
  nextCursor?: string;
}

export const paymentsPage: Page = async ({ api, query, now, hasSandbox, session, outcome }) => {
  const asked = [...query.keys()].filter((name) => isFilter(name) && (query.get(name) ?? '') !== '');
  const [list, { teams }, { views }] = await Promise.all([
    api.get<PaymentList>(`/api/v1/admin/payments?${toApiQuery(query, now).toString()}`),
    api.get<{ teams: string[] }>('/api/v1/admin/teams'),
    api.get<{ views: SavedView[] }>('/api/v1/admin/views'),
  ]);
  const main = html`<div class="head">
      <h1>${texts.payments.title}</h1>
      ${csvLink(query)}
    </div>
    <section id="outcome" aria-live="polite">
      ${outcome === undefined ? undefined : outcomeNotice(outcome)}
    </section>
    ${viewLinks(query, views, session)} ${filterForm(query, teams)}
    <section id="payments" data-region="">
      ${list.payments.length === 0 ? nothing(query, asked, hasSandbox) : paymentTable(list.payments, { sorting: sortingOf(query) })}
      ${pager(query, list)}
    </section>`;
  return { title: texts.payments.title, main, isLive: query.get('cursor') === null };
};

const isFilter = (name: string): boolean =>
  (filterNames as readonly string[]).includes(name) || name.startsWith('metadata[');

/** The other order, from its beginning. */
function sortingOf(query: URLSearchParams): Sorting {
  const isOldestFirst = query.get('order') === 'oldest';
  const next = new URLSearchParams(query);
  next.delete('cursor');
  if (isOldestFirst) next.delete('order');
  else next.set('order', 'oldest');
  return { isOldestFirst, other: `/console/payments?${next.toString()}` };
}

/** What the API is asked; ranges of time count from now, amounts are whole units of the currency. */
function toApiQuery(query: URLSearchParams, now: number): URLSearchParams {
  const asked = new URLSearchParams({ perPage: String(perPage) });
  const same = ['phase', 'team', 'environment', 'currency', 'orderNumber', 'sanitizedMask', 'account'];
  for (const name of [...same, 'status', 'needsReview', 'order', 'cursor']) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  const currency = query.get('currency') ?? '';
  for (const name of ['amountFrom', 'amountTo']) {
    const text = query.get(name) ?? '';
    // What is no amount goes as it is, so that the API names it.
    if (text !== '') asked.set(name, String(parseAmount(text, currency === '' ? 'EUR' : currency) ?? text));
  }
  for (const { name, text } of metadataIn(query)) asked.set(`metadata[${name}]`, text);
  const span = lastMs[query.get('last') ?? ''];
  const age = lastMs[query.get('before') ?? ''];
  // By the minute, so that a page that is loaded again asks the same.
  const minute = Math.floor(now / 60_000) * 60_000;
  if (span !== undefined) asked.set('createdFrom', new Date(minute - span).toISOString());
  if (age !== undefined) asked.set('createdBefore', new Date(minute - age).toISOString());
  return asked;
}

/** Says which filters hide everything, with a way out. */
function nothing(query: URLSearchParams, asked: readonly string[], hasSandbox: boolean): Html {
  if (asked.length === 0) {
    const sandbox = hasSandbox
      ? html` <a href="/console/sandbox">${texts.payments.emptySandbox}</a>`
      : undefined;
    return html`<p class="empty">${texts.payments.empty} ${texts.payments.emptyHow}${sandbox}</p>`;
  }
  const named = asked.map((name) => {
    const without = new URLSearchParams(query);
    without.delete(name);
    without.delete('cursor');
    const value = query.get(name) ?? '';
    return html`<a class="filter" href="/console/payments?${without.toString()}" title="${words.clear}"
      >${name}: ${value} <span aria-hidden="true">×</span></a
    >`;
  });
  return html`<p class="empty">${texts.payments.hidden} ${named}</p>`;
}

function pager(query: URLSearchParams, { nextCursor }: PaymentList): Html {
  const to = (cursor?: string) => {
    const asked = new URLSearchParams(query);
    asked.delete('cursor');
    if (cursor !== undefined) asked.set('cursor', cursor);
    return `/console/payments?${asked.toString()}`;
  };
  const first =
    query.get('cursor') === null ? undefined : html`<a href="${to()}">${texts.payments.first}</a>`;
  const next =
    nextCursor === undefined
      ? undefined
      : html`<a rel="next" href="${to(nextCursor)}"
          >${query.get('order') === 'oldest' ? texts.payments.newer : texts.payments.older}</a
        >`;
  return html`<nav class="pager" aria-label="Pages">${first}${next}</nav>`;
}

/** The file is a team's own, of one environment, as the API gives it. */
function csvLink(query: URLSearchParams): Html | undefined {
  const [team, environment] = [query.get('team') ?? '', query.get('environment') ?? ''];
  if (team === '') return undefined;
  const asked = new URLSearchParams({ team, environment: environment === '' ? 'production' : environment });
  for (const name of ['phase', 'orderNumber', 'currency', 'needsReview']) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  for (const { name, text } of metadataIn(query)) asked.set(`metadata[${name}]`, text);
  return html`<a
    class="button"
    href="/console/payments.csv?${asked.toString()}"
    title="${texts.payments.csvTitle}"
    download
    >${texts.payments.csv}</a
  >`;
}
