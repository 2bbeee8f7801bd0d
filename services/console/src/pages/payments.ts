/** The payments of all teams. Filters, views and pages are in the URL, so that a link shows the same to a colleague. */
import { type Html, html } from '@tollgate/service-kit';
import { csvMenu } from '../components/csv-menu.ts';
import { declineReasons } from '../components/decline-reasons.ts';
import { createdWithin, filterChips, filterForm, metadataIn, ownerFields } from '../components/filters.ts';
import { listPage } from '../components/list-page.ts';
import { paymentList } from '../components/payment-list.ts';
import { toApiQuery, toDeclineQuery } from '../components/payment-query.ts';
import { viewLinks } from '../components/payment-views.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const path = '/console/payments';

export const paymentsPage: Page = async (context) => {
  const { api, query, now, hasSandbox, session } = context;
  const declines = toDeclineQuery(query, now);
  const asked = toApiQuery(query, now);
  const [{ found, wrong }, { teams }, { views }, reasons] = await Promise.all([
    api.filtered<'OperatorPaymentList'>(`/api/v1/admin/payments?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
    api.get<'SavedViews'>('/api/v1/admin/views'),
    declines && api.filtered<'OutcomeCounts'>(`/api/v1/admin/outcomes?${declines.toString()}`),
  ]);
  const { payments = [], nextCursor } = found ?? {};
  const isOldestFirst = query.get('order') === 'oldest';
  return listPage(context, {
    title: 'Payments',
    path,
    list: paymentList(isOldestFirst, reversedOf(query)),
    rows: payments,
    nextCursor,
    further: isOldestFirst ? 'Newer' : 'Older',
    ...whyNone(query, nextCursor, hasSandbox),
    file: wrong === undefined ? csvMenu(path, asked, now) : undefined,
    tabs: viewLinks(query, views, session),
    filters: filterFormOf(query, teams),
    before: reasons?.found && declineReasons(query, reasons.found),
    wrong,
  });
};

/** The reverse order, from its start. */
function reversedOf(query: URLSearchParams): string {
  const next = new URLSearchParams(query);
  next.delete('cursor');
  if (query.get('order') === 'oldest') next.delete('order');
  else next.set('order', 'oldest');
  return `${path}?${next.toString()}`;
}

function filterFormOf(query: URLSearchParams, teams: readonly string[]): Html {
  const { team, environment } = ownerFields(teams);
  // A filter typed as `metadata=order:4711` gets its own field.
  const shown = new URLSearchParams(query);
  shown.delete('metadata');
  const noted = metadataIn(query).map(({ name, text }) => {
    shown.set(`metadata[${name}]`, text);
    return [`metadata[${name}]`, 'text'] as const;
  });
  return filterForm(
    path,
    shown,
    {
      phase: Object.entries(texts.phases),
      team,
      last: Object.entries(createdWithin),
      orderNumber: 'text',
      order: 'hidden',
      status: 'hidden',
      needsReview: 'hidden',
      unresolved: 'hidden',
      refundOpen: 'hidden',
      before: 'hidden',
    },
    {
      further: {
        from: 'instant',
        to: 'instant',
        amountFrom: 'decimal',
        amountTo: 'decimal',
        currency: 'text',
        sanitizedMask: 'numeric',
        account: 'text',
        declineReason: 'text',
        ...Object.fromEntries(noted),
        metadata: 'text',
        environment,
      },
    },
  );
}

/** An empty list always shows its reason. */
function whyNone(
  query: URLSearchParams,
  nextCursor: string | undefined,
  hasSandbox: boolean,
): { none: string; noneHow?: Html | string } {
  if (filterChips(path, query) === undefined)
    return {
      none: 'No payment yet. A payment shows here a moment after a team creates it.',
      ...(hasSandbox && { noneHow: html`<a href="/console/sandbox">Create one in the sandbox</a>` }),
    };
  if (nextCursor === undefined) return { none: 'No payment matches these filters.' };
  // The search limit was reached without a match, so it is unknown whether one exists.
  const end = query.get('order') === 'oldest' ? 'oldest' : 'newest';
  return {
    none: `None of the ${end} 5,000 payments from here on matches these filters; the next page looks further.`,
  };
}
