/** The payments of all teams. Filters, views and pages are in the URL, so that a link shows the same to a colleague. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { declineReasons } from '../components/decline-reasons.ts';
import { outcomeNotice, outcomeSection } from '../components/notice.ts';
import { csvMenu } from '../components/csv-menu.ts';
import { filterChips } from '../components/filter-chips.ts';
import { filterForm } from '../components/payment-filters.ts';
import { type Sorting, paymentList } from '../components/payment-list.ts';
import { toApiQuery, toDeclineQuery, wrongFilters, wrongTexts } from '../components/payment-query.ts';
import { viewLinks } from '../components/payment-views.ts';
import { columnMenu, listTable, pager } from '../components/table.ts';
import type { Page } from '../page.ts';

export const paymentsPage: Page = async ({ api, query, now, hasSandbox, session, outcome, columnsOf }) => {
  const wrong = wrongFilters(query);
  const declines = wrong.length > 0 ? undefined : toDeclineQuery(query, now);
  const none: Pick<AnswerOf<'OperatorPaymentList'>, 'payments' | 'nextCursor'> = { payments: [] };
  const [list, { teams }, { views }, reasons] = await Promise.all([
    wrong.length > 0
      ? none
      : api.get<'OperatorPaymentList'>(`/api/v1/admin/payments?${toApiQuery(query, now).toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
    api.get<'SavedViews'>('/api/v1/admin/views'),
    declines && api.get<'OutcomeCounts'>(`/api/v1/admin/outcomes?${declines.toString()}`),
  ]);
  const table = paymentList(sortingOf(query));
  const chosen = columnsOf(table.name);
  const shown =
    list.payments.length === 0 ? nothing(query, list, hasSandbox) : listTable(table, list.payments, chosen);
  const further = query.get('order') === 'oldest' ? 'Newer' : 'Older';
  const main = html`<div class="head">
      <h1>Payments</h1>
      ${columnMenu(table, '/console/payments', query, chosen)}
      ${wrong.length > 0 ? undefined : csvMenu('/console/payments', toApiQuery(query, now), now)}
    </div>
    ${outcomeSection(outcome)} ${viewLinks(query, views, session)} ${filterForm(query, teams)}
    ${filterChips('/console/payments', query)}
    <section
      id="payments"
      data-region=""
      data-further="The list does not refresh while further pages are open. Last update"
    >
      ${wrong.length > 0 ? outcomeNotice({ isDone: false, text: wrongTexts(wrong) }) : html`${reasons && declineReasons(query, reasons.counts)} ${shown} ${pager('/console/payments', query, list.nextCursor, further)}`}
    </section>`;
  const isLive = query.get('cursor') === null && wrong.length === 0;
  return { title: 'Payments', main, isLive, ...(wrong.length > 0 ? { status: 400 } : {}) };
};

/** The reverse order, from its start. */
function sortingOf(query: URLSearchParams): Sorting {
  const isOldestFirst = query.get('order') === 'oldest';
  const next = new URLSearchParams(query);
  next.delete('cursor');
  if (isOldestFirst) next.delete('order');
  else next.set('order', 'oldest');
  return { isOldestFirst, other: `/console/payments?${next.toString()}` };
}

/** An empty list always shows its reason. */
function nothing(query: URLSearchParams, { nextCursor }: { nextCursor?: string }, hasSandbox: boolean): Html {
  if (filterChips('/console/payments', query) === undefined) {
    const sandbox = hasSandbox ? html` <a href="/console/sandbox">Create one in the sandbox</a>` : undefined;
    return html`<p class="empty">
      No payment yet. A payment shows here a moment after a team creates it.${sandbox}
    </p>`;
  }
  // The search limit was reached without a match, so it is unknown whether one exists.
  const text =
    nextCursor === undefined
      ? 'No payment matches these filters.'
      : `None of the ${query.get('order') === 'oldest' ? 'oldest' : 'newest'} 5,000 payments from here on matches these filters; the next page looks further.`;
  return html`<p class="empty">${text}</p>`;
}
