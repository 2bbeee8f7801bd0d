/** One box: what is a filter leads to the list, what names a payment leads to it, and the rest is looked up. */
import { html } from '@tollgate/service-kit';
import { type ListedPayment, paymentPath, paymentTable } from '../components/payment-list.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

interface Hit {
  why: keyof typeof texts.search.why;
  payment: ListedPayment;
}

export const searchPage: Page = async ({ api, query }) => {
  const text = (query.get('q') ?? '').trim();
  if (text === '') return { location: '/console/payments' };
  const filters = toFilters(text);
  if (filters !== undefined) return { location: `/console/payments?${filters.toString()}` };
  const { hits } = await api.get<{ hits: Hit[] }>(
    `/api/v1/admin/search?${new URLSearchParams({ q: text }).toString()}`,
  );
  const [only] = hits;
  if (only !== undefined && hits.length === 1) return { location: paymentPath(only.payment.token) };
  const found =
    hits.length === 0
      ? html`<p class="empty">${texts.search.none} ${texts.search.hint}</p>`
      : paymentTable(
          hits.map(({ payment }) => payment),
          (place) => texts.search.why[hits[place]?.why ?? 'token'],
        );
  return {
    ...{ title: texts.search.label, search: text },
    main: html`<h1>${texts.search.label}: <q>${text}</q></h1>
      ${found}`,
  };
};

const fields: Readonly<Record<string, string>> = {
  ...{ status: 'status', state: 'phase', phase: 'phase', team: 'team', currency: 'currency', last: 'last' },
  ...{ order: 'orderNumber', ordernumber: 'orderNumber', card: 'sanitizedMask', account: 'account' },
  ...{ environment: 'environment' },
};

/** `status:approved amount:>100 last:24h`; undefined where any word is none of these. */
export function toFilters(text: string): URLSearchParams | undefined {
  const filters = new URLSearchParams();
  for (const word of text.split(/\s+/)) {
    const [, name = '', value = ''] = /^([a-zA-Z]+):(.+)$/.exec(word) ?? [];
    const field = fields[name.toLowerCase()];
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
