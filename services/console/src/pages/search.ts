/** The search box: filters lead to the list of payments, everything else is looked up. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import type { Api } from '../api.ts';
import { amount } from '../components/amount.ts';
import { teamPath } from '../components/keys.ts';
import { furtherPlaces, placesFor } from '../components/layout.ts';
import { timeColumn } from '../components/list-columns.ts';
import { chip } from '../components/state.ts';
import { type List, column, listTable } from '../components/table.ts';
import { operationPath, shortToken } from '../components/token.ts';
import { type ConsoleKit, type Page, type PageContext, admit, contextOf, protect } from '../page.ts';
import { texts } from '../texts.ts';
import { requestPanel } from './request.ts';

const kindNames = {
  payment: 'Payment',
  refund: 'Refund',
  payout: 'Payout',
  dispute: 'Dispute',
  webhook: 'Webhook',
  request: 'Request',
  key: 'Key',
  team: 'Team',
  page: 'Page',
  filter: 'Filter',
};

const reasons = {
  token: { whole: 'Token matches', beginning: 'Token begins with this' },
  'service-token': { whole: 'Token of the Payment Service', beginning: '' },
  'order-number': { whole: 'Order number matches', beginning: 'Order number begins with this' },
  request: { whole: 'The request was about it', beginning: '' },
  card: { whole: 'Card ends with these digits', beginning: '' },
  name: { whole: 'Name matches', beginning: 'Name begins with this' },
  filter: { whole: 'Payments with these properties', beginning: '' },
  webhook: { whole: 'Webhook with this id', beginning: '' },
};

type SearchAnswer = Pick<AnswerOf<'SearchResults'>, 'request' | 'isPartial'> & { hits: SearchHit[] };
type ApiHit = AnswerOf<'SearchResults'>['hits'][number];
/** The console adds two kinds to those of the API: webhooks, and its own pages. */
type SearchHit = Omit<ApiHit, 'kind' | 'why'> & {
  kind: ApiHit['kind'] | 'webhook' | 'page';
  why: ApiHit['why'] | 'webhook';
  address?: string;
};

export const searchPage: Page = async (context) => {
  const text = textIn(context);
  if (text === '') return { location: '/console/payments' };
  const filters = toFilters(text);
  if (filters !== undefined) return { location: `/console/payments?${filters.toString()}` };
  const { hits, request, isPartial } = await lookUp(context, text);
  const whole = hits.filter(({ isWhole }) => isWhole);
  const [only, ...others] = whole.length === 1 ? whole : hits;
  if (only !== undefined && others.length === 0 && request === undefined && isPartial !== true)
    return { location: addressOf(only) };
  const none = html`<p class="empty">
    No results.
    <span class="calm"
      >${'Type a token, an order number, a request id (req_…), a webhook id (whk_…), a key id, the name of a team or page, or the last digits of a card (*1251). Filters: status:approved amount:>100 team:shop metadata.order:4711 last:24h from:2030-01-31T14:05 to:2030-02-01.'}</span
    >
  </p>`;
  return {
    title: 'Search',
    search: text,
    main: html`<h1>Search: <q>${text}</q></h1>
      ${request === undefined ? undefined : await requestPanel(request, context.api)}
      ${hits.length > 0 ? listTable(list, hits) : request === undefined ? none : undefined}
      ${isPartial === true ? html`<p class="calm">Only the newest 5,000 payments were searched for these digits. Filter the payments by card and time to search older ones.</p>` : undefined}`,
  };
};

/** A shorter text matches too much. */
const suggestedFrom = 2;
const suggestionsMax = 8;

/** Suggestions for the list below the search box. */
export function registerSuggestions(app: FastifyInstance, kit: ConsoleKit): void {
  app.get('/console/search/suggestions', async (request, reply) => {
    const session = await admit(kit, request, reply);
    if (session === undefined) return reply;
    const shown = await suggestionsFor(contextOf(kit, request, session));
    return protect(reply)
      .type('text/html; charset=utf-8')
      .send(html`${shown}`.html);
  });
}

async function suggestionsFor(context: PageContext): Promise<Html[]> {
  const text = textIn(context);
  if (text.length < suggestedFrom) return [];
  const filters = toFilters(text);
  if (filters !== undefined)
    return [
      suggestion(`/console/payments?${filters.toString()}`, text, kindNames.filter, reasons.filter.whole),
    ];
  // The results page shows failures.
  const { hits, request } = await lookUp(context, text).catch((): SearchAnswer => ({ hits: [] }));
  const address = `/console/search?${new URLSearchParams({ q: text }).toString()}`;
  return [
    ...(request === undefined
      ? []
      : [suggestion(address, request.id, kindNames.request, reasons.token.whole)]),
    ...hits
      .slice(0, suggestionsMax)
      .map((hit) =>
        suggestion(addressOf(hit), html`${nameOf(hit)} ${factsOf(hit)}`, kindNames[hit.kind], whyOf(hit)),
      ),
  ];
}

const suggestion = (address: string, name: Html | string, kind: string, why: string): Html =>
  html`<a role="option" aria-selected="false" tabindex="-1" href="${address}"
    >${name}<small class="why">${kind} · ${why}</small></a
  >`;

const textIn = ({ query }: PageContext): string => (query.get('q') ?? '').trim();

/** Console pages are found here, webhooks by the notifier, everything else by the API's search. */
async function lookUp(context: PageContext, text: string): Promise<SearchAnswer> {
  if (/^whk_[0-9a-f]{32}$/.test(text)) return { hits: await findWebhook(context.api, text) };
  const query = new URLSearchParams({ q: text }).toString();
  const answer = await context.api.get<'SearchResults'>(`/api/v1/admin/search?${query}`);
  return { ...answer, hits: [...pagesNamed(context, text), ...answer.hits] };
}

function pagesNamed({ session, hasSandbox }: PageContext, text: string): SearchHit[] {
  const wanted = text.toLowerCase();
  return [...placesFor(session, hasSandbox), ...furtherPlaces]
    .map(([address, name]) => ({ address, id: texts.nav[name] }))
    .filter(({ id }) => id.toLowerCase().startsWith(wanted))
    .map(({ address, id }) => ({
      kind: 'page',
      id,
      address,
      why: 'name',
      isWhole: id.toLowerCase() === wanted,
    }));
}

async function findWebhook(api: Api, id: string): Promise<SearchHit[]> {
  const { webhooks } = await api.get<'OperatorWebhookList'>(`/api/v1/admin/webhooks?id=${id}`);
  return webhooks.map(({ team, environment, createdAt, body }) => ({
    kind: 'webhook',
    id,
    why: 'webhook',
    isWhole: true,
    team,
    environment,
    createdAt,
    paymentToken: body.token,
  }));
}

/** A refund, dispute or webhook is shown on the timeline of its payment or payout. */
function addressOf({ kind, id, team = '', paymentToken, address }: SearchHit): string {
  if (address !== undefined) return address;
  if (kind === 'key' || kind === 'team') return teamPath(team);
  if (kind === 'dispute' && paymentToken === undefined) return '/console/disputes?status=';
  return operationPath(paymentToken ?? id);
}

const nameOf = ({ id, orderNumber }: SearchHit): Html => html`<b>${orderNumber ?? shortToken(id)}</b>`;

const whyOf = ({ why, isWhole }: SearchHit): string => reasons[why][isWhole ? 'whole' : 'beginning'];

const factsOf = (hit: SearchHit): Html =>
  html`${amountOf(hit)} ${stateOf(hit)} ${hit.kind === 'team' ? undefined : hit.team}`;

const amountOf = ({ amount: minor, currency }: SearchHit): Html | undefined =>
  minor === undefined || currency === undefined ? undefined : amount(minor, currency);

function stateOf({ kind, phase }: SearchHit): Html | undefined {
  if (phase === undefined) return undefined;
  const names: Readonly<Partial<Record<SearchHit['kind'], Readonly<Record<string, string>>>>> = {
    refund: texts.refundPhases,
    dispute: texts.disputeStates,
    key: texts.keyStates,
  };
  return chip(names[kind]?.[phase] ?? phase);
}

const list: List<SearchHit> = {
  name: 'search',
  label: 'Search',
  keyOf: ({ kind, id }) => `${kind} ${id}`,
  columns: [
    column('found', 'Found', foundCell),
    column('state', 'State', stateOf, { width: 'state' }),
    column('amount', 'Amount', amountOf, { width: 'amount', isNumber: true }),
    column('entry', 'Kind', (hit) => html`${kindNames[hit.kind]} <small class="why">${whyOf(hit)}</small>`),
    column('team', 'Team', ({ team }) => team, { width: 'name' }),
    timeColumn('created', 'Created', ({ createdAt }) => createdAt, { isSecond: true }),
  ],
};

function foundCell(hit: SearchHit): Html {
  return html`<a href="${addressOf(hit)}" title="${hit.id}">${nameOf(hit)}</a>`;
}

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

/** Parses `status:approved amount:>100 reason:"lost card"`. Undefined if any word is not a filter. */
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
