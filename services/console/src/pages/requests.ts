/** The stored requests of one team and environment, latest first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { optionsOf } from '../components/choice.ts';
import { filterForm, ownerFields } from '../components/filters.ts';
import { countColumn, createdColumn } from '../components/list-columns.ts';
import { listPage } from '../components/list-page.ts';
import { chip } from '../components/state.ts';
import { type List, column } from '../components/table.ts';
import { durationText } from '../components/time.ts';
import { operationLink } from '../components/token.ts';
import type { Page } from '../page.ts';

type StoredRequest = AnswerOf<'RequestList'>['requests'][number];

const path = '/console/requests';

const fields = {
  status: optionsOf(['2xx', '4xx', '5xx']),
  errorCode: 'text',
  keyId: 'text',
  token: 'text',
  dateFrom: 'date',
  dateTo: 'date',
} as const;

export const requestsPage: Page = async (context) => {
  const { api, query, hasSandbox } = context;
  const { teams } = await api.get<'TeamNames'>('/api/v1/admin/teams');
  const team = query.get('team') || (teams[0] ?? '');
  const environment = query.get('environment') || (hasSandbox ? 'sandbox' : 'production');
  const asked = queryOf(query, [...Object.keys(fields), 'cursor'], { perPage: '50' });
  const none: Pick<AnswerOf<'RequestList'>, 'requests' | 'nextCursor'> = { requests: [] };
  const { requests, nextCursor } =
    team === ''
      ? none
      : await api.get<'RequestList'>(`/api/v1/requests?${asked.toString()}`, { team, environment });
  return listPage(context, {
    title: 'Requests',
    path,
    list,
    rows: requests,
    nextCursor,
    none: 'No request matches these filters.',
    noneHow: 'A request is listed within a second of its answer, without its body.',
    filters: filterForm(path, query, { ...ownerFields(teams), ...fields }, { given: { team, environment } }),
    shownElsewhere: ['team', 'environment'],
  });
};

const list: List<StoredRequest> = {
  name: 'requests',
  label: 'Requests',
  keyOf: ({ id }) => id,
  hasDays: true,
  columns: [
    column('route', 'Route', routeCell, { use: 'always' }),
    column('state', 'Answer', answerCell, { width: 'word', use: 'always' }),
    column('reason', 'Error code', ({ errorCode }) => errorCode),
    createdColumn('Received', ({ at }) => at),
    countColumn('took', 'Duration', ({ durationMs }) => durationText(durationMs)),
    column('about', 'Payment or payout', ({ token }) => token && operationLink(token), {
      width: 'token',
      isSecond: true,
    }),
    column('team', 'Key', ({ keyId }) => keyId, { width: 'name' }),
  ],
};

function routeCell({ id, method, route = '' }: StoredRequest): Html {
  return html`<a href="/console/search?q=${id}" title="${id}"><code>${method} ${route}</code></a>`;
}

function answerCell({ status }: StoredRequest): Html | string {
  if (status === undefined) return 'Disconnected';
  return chip(String(status), status < 400 ? 'good' : status < 500 ? 'note' : 'bad');
}
