/** The stored requests of one team and environment, latest first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { choice } from '../components/choice.ts';
import { filterChips, filterNames } from '../components/filter-chips.ts';
import { createdColumn } from '../components/list-columns.ts';
import { entry } from '../components/payment-filters.ts';
import { operationPath } from '../components/payment-list.ts';
import { chip } from '../components/state.ts';
import { type List, listTable, pager } from '../components/table.ts';
import { durationText } from '../components/time.ts';
import { shortToken } from '../components/token.ts';
import type { Page } from '../page.ts';

type StoredRequest = AnswerOf<'RequestList'>['requests'][number];

const path = '/console/requests';
const askedNames = ['status', 'errorCode', 'keyId', 'token', 'dateFrom', 'dateTo', 'cursor'];

export const requestsPage: Page = async ({ api, query, hasSandbox }) => {
  const { teams } = await api.get<'TeamNames'>('/api/v1/admin/teams');
  const team = query.get('team') || (teams[0] ?? '');
  const environment = query.get('environment') || (hasSandbox ? 'sandbox' : 'production');
  const asked = queryOf(query, askedNames, { perPage: '50' });
  const {
    requests,
    nextCursor,
  }: Pick<AnswerOf<'RequestList'>, 'requests' | 'nextCursor'> = team === ''
    ? { requests: [] }
    : await api.get<'RequestList'>(`/api/v1/requests?${asked.toString()}`, { team, environment });
  const main = html`<h1>Requests</h1>
    ${filterForm(query, { team, environment, teams })} ${filterChips(path, query, ['team', 'environment'])}
    <section id="requests" data-region="">
      ${requests.length === 0 ? html`<p class="empty">No request matches these filters. <span class="calm">A request is listed within a second of its answer, without its body.</span></p>` : listTable(list, requests)}
      ${pager(path, query, nextCursor)}
    </section>`;
  return { title: 'Requests', main, isLive: query.get('cursor') === null };
};

interface Chosen {
  team: string;
  environment: string;
  teams: readonly string[];
}

function filterForm(query: URLSearchParams, { team, environment, teams }: Chosen): Html {
  const value = (name: string) => query.get(name) ?? '';
  const optionsOf = (all: readonly string[]) => all.map((each) => [each, each] as const);
  return html`<form class="filters" action="${path}">
    ${choice('team', 'Team', team, { options: optionsOf(teams) })}
    ${choice('environment', 'Environment', environment, { options: optionsOf(['production', 'sandbox']) })}
    ${choice('status', 'Status', value('status'), { any: 'any', options: optionsOf(['2xx', '4xx', '5xx']) })}
    ${(['errorCode', 'keyId', 'token'] as const).map((name) => entry(name, filterNames[name], value(name)))}
    ${(['dateFrom', 'dateTo'] as const).map((name) => html`<label>${filterNames[name]}<input type="date" name="${name}" value="${value(name)}" /></label>`)}
    <button>Show</button>
  </form>`;
}

const list: List<StoredRequest> = {
  name: 'requests',
  label: 'Requests',
  keyOf: ({ id }) => id,
  hasDays: true,
  columns: [
    {
      id: 'route',
      name: 'Route',
      cell: ({ id, method, route = '' }) =>
        html`<a href="/console/search?q=${id}" title="${id}"><code>${method} ${route}</code></a>`,
    },
    { id: 'state', name: 'Answer', width: 'word', cell: answerCell },
    { id: 'reason', name: 'Error code', cell: ({ errorCode }) => errorCode },
    createdColumn('Received', ({ at }) => at),
    {
      id: 'took',
      name: 'Duration',
      width: 'count',
      isNumber: true,
      cell: ({ durationMs }) => durationText(durationMs),
    },
    { id: 'about', name: 'Payment or payout', width: 'token', isSecond: true, cell: aboutCell },
    { id: 'team', name: 'Key', width: 'name', cell: ({ keyId }) => keyId },
  ],
};

function answerCell({ status }: StoredRequest): Html | string {
  if (status === undefined) return 'Disconnected';
  return chip(String(status), status < 400 ? 'good' : status < 500 ? 'note' : 'bad');
}

function aboutCell({ token }: StoredRequest): Html | undefined {
  if (token === undefined) return undefined;
  return html`<a href="${operationPath(token)}" title="${token}"><code>${shortToken(token)}</code></a>`;
}
