/** What the search box shows while somebody types: a part of a page, of links that say why they are there. */
import { type Html, html } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import type { Api } from '../api.ts';
import { amount } from '../components/amount.ts';
import { type ListedPayment, paymentPath } from '../components/payment-list.ts';
import { chip } from '../components/state.ts';
import { shortToken } from '../components/token.ts';
import { type ConsoleKit, admit, protect } from '../page.ts';
import { texts } from '../texts.ts';
import { type SearchAnswer, toFilters } from './search.ts';

const words = texts.search;
/** Shorter texts begin too much. */
const lengthMin = 2;

export function registerSuggestions(app: FastifyInstance, kit: ConsoleKit): void {
  app.get('/console/search/suggestions', async (request, reply) => {
    const session = await admit(kit, request, reply);
    if (session === undefined) return reply;
    const text = (new URLSearchParams(request.url.split('?', 2)[1] ?? '').get('q') ?? '').trim();
    const shown = text.length < lengthMin ? [] : await suggest(kit.apiOf(session, request.ip), text);
    return protect(reply)
      .type('text/html; charset=utf-8')
      .send(html`${shown}`.html);
  });
}

async function suggest(api: Api, text: string): Promise<Html[]> {
  const filters = toFilters(text);
  if (filters !== undefined)
    return [option(`/console/payments?${filters.toString()}`, text, words.why.filter)];
  const query = new URLSearchParams({ q: text }).toString();
  const [exact, beginning] = await Promise.all([
    api.call<SearchAnswer>({ path: `/api/v1/admin/search?${query}` }),
    api.call<SearchAnswer>({ path: `/api/v1/admin/search/suggestions?${query}` }),
  ]);
  // What cannot be answered now is no reason to say anything while somebody types.
  const [found, begun] = [exact, beginning].map((answer) =>
    answer.kind === 'answer' ? answer.body : undefined,
  );
  const request = found?.request;
  const hits = [
    ...(found?.hits ?? []),
    ...(begun?.hits ?? []).map(({ payment, why }) => ({ payment, why: beginnings[why] ?? why })),
  ];
  const isFirst = ({ payment }: (typeof hits)[number], place: number) =>
    hits.findIndex((each) => each.payment.token === payment.token) === place;
  return [
    ...(request === undefined
      ? []
      : [option(`/console/search?${query}`, request.id, words.why.requestItself)]),
    ...hits.filter(isFirst).map(({ payment, why }) => paymentOption(payment, words.why[why])),
  ];
}

const beginnings: Partial<Record<string, keyof typeof words.why>> = {
  token: 'token-begins',
  'order-number': 'order-number-begins',
};

const option = (address: string, name: Html | string, why: string): Html =>
  html`<a role="option" aria-selected="false" tabindex="-1" href="${address}"
    >${name}<small class="why">${why}</small></a
  >`;

const paymentOption = (payment: ListedPayment, why: string): Html =>
  option(
    paymentPath(payment.token),
    html`<b>${payment.orderNumber ?? shortToken(payment.token)}</b>
      ${amount(payment.amount, payment.currency)} ${chip(payment.phase)} ${payment.team}`,
    why,
  );
