/** One box: what is a filter leads to the list, what names a payment leads to it, and the rest is looked up. */
import { html } from '@tollgate/service-kit';
import { type ListedPayment, paymentPath, paymentTable } from '../components/payment-list.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';
import { type FoundRequest, requestPanel } from './request.ts';

/** As the API gives it. */
export interface SearchAnswer {
  hits: { why: keyof typeof texts.search.why; payment: ListedPayment }[];
  request?: FoundRequest;
  isPartial?: boolean;
}

export const searchPage: Page = async ({ api, query }) => {
  const text = (query.get('q') ?? '').trim();
  if (text === '') return { location: '/console/payments' };
  const filters = toFilters(text);
  if (filters !== undefined) return { location: `/console/payments?${filters.toString()}` };
  const { hits, request, isPartial } = await api.get<SearchAnswer>(
    `/api/v1/admin/search?${new URLSearchParams({ q: text }).toString()}`,
  );
  const [only] = hits;
  if (only !== undefined && hits.length === 1 && request === undefined && isPartial !== true)
    return { location: paymentPath(only.payment.token) };
  const found =
    hits.length === 0
      ? html`<p class="empty">
          ${request === undefined ? `${texts.search.none} ${texts.search.hint}` : texts.search.request.none}
        </p>`
      : paymentTable(
          hits.map(({ payment }) => payment),
          { why: (place) => texts.search.why[hits[place]?.why ?? 'token'] },
        );
  return {
    title: texts.search.label,
    search: text,
    main: html`<h1>${texts.search.label}: <q>${text}</q></h1>
      ${request === undefined ? undefined : await requestPanel(request, api)} ${found}
      ${isPartial === true ? html`<p class="calm">${texts.search.partial}</p>` : undefined}`,
  };
};

const fields: ReadonlyMap<string, string> = new Map(
  Object.entries({
    status: 'status',
    state: 'phase',
    phase: 'phase',
    team: 'team',
    currency: 'currency',
    last: 'last',
    order: 'orderNumber',
    ordernumber: 'orderNumber',
    card: 'sanitizedMask',
    account: 'account',
    environment: 'environment',
    from: 'from',
    to: 'to',
    before: 'before',
    reason: 'declineReason',
    unresolved: 'unresolved',
    refundopen: 'refundOpen',
  }),
);

/** `status:approved amount:>100 reason:"lost card"`; undefined where any word is none of these. */
export function toFilters(text: string): URLSearchParams | undefined {
  const filters = new URLSearchParams();
  const terms = text.match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
  if (terms.length === 0) return undefined;
  for (const word of terms) {
    const [, name = '', written = ''] = /^([a-zA-Z]+(?:\.[A-Za-z0-9_.-]+)?):(.+)$/.exec(word) ?? [];
    const value = written.replaceAll('"', '');
    const [, noted] = /^metadata\.(.+)$/i.exec(name) ?? [];
    const field = noted === undefined ? fields.get(name.toLowerCase()) : `metadata[${noted}]`;
    const [, relation, sum] = name === 'amount' ? (/^([<>]?)=?([\d.]+)$/.exec(value) ?? []) : [];
    if (field !== undefined) filters.set(field, value);
    else if (sum === undefined) return undefined;
    else {
      if (relation !== '<') filters.set('amountFrom', sum);
      if (relation !== '>') filters.set('amountTo', sum);
    }
  }
  return filters;
}
