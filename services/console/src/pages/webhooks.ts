/** Undelivered webhooks of all teams, with their attempts and bodies, and resending. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { queryOf } from '../api.ts';
import { actionRow } from '../components/actions.ts';
import { filterForm, ownerFields } from '../components/filters.ts';
import { buttonForm, hiddenFields } from '../components/form.ts';
import { createdColumn, teamColumn } from '../components/list-columns.ts';
import { listPage } from '../components/list-page.ts';
import { answered } from '../components/notice.ts';
import { chip } from '../components/state.ts';
import { type List, column, tabs } from '../components/table.ts';
import { relative } from '../components/time.ts';
import { type TimelineWebhook, raw, triesOf } from '../components/timeline-items.ts';
import { operationPath, shortToken } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';

const viewNames = { failed: 'Failed', open: 'Retrying' };
const viewHelp = {
  failed: 'All attempts failed. Nothing more is sent unless you resend it.',
  open: 'An attempt failed. The next one follows automatically.',
};
const path = '/console/webhooks';

type FailingList = AnswerOf<'OperatorWebhookList'>;
type FailingWebhook = FailingList['webhooks'][number];

export const webhooksPage: Page = async (context) => {
  const { api, query, session } = context;
  const { teams } = await api.get<'TeamNames'>('/api/v1/admin/teams');
  let status: Status = query.get('status') === 'open' ? 'open' : 'failed';
  let list = await listWith(status, context);
  // Abandoned webhooks first; if there are none, those being retried.
  if (query.get('status') === null && list.count === 0) {
    status = 'open';
    list = await listWith(status, context);
  }
  const mayReplay = mayDo(session.grants, 'operators:act', {});
  return listPage(context, {
    title: 'Webhooks',
    path,
    list: listWithResend(mayReplay ? context : undefined),
    rows: list.webhooks,
    nextCursor: list.nextCursor,
    none: 'No webhook here.',
    noneHow: 'A webhook appears here while its receiver does not accept it.',
    isGoodNews: true,
    note: `Undelivered webhooks of all teams. ${viewHelp[status]}`,
    tabs: tabs(
      'Webhooks',
      `${path}?status=${status}`,
      (['failed', 'open'] as const).map((each) => [viewNames[each], `${path}?status=${each}`]),
    ),
    filters: filterForm(path, query, { status: 'hidden', ...ownerFields(teams) }, { given: { status } }),
    shownElsewhere: ['status'],
    before: mayReplay && status === 'failed' && list.count > 0 ? replayAll(list.count, context) : undefined,
  });
};

type Status = 'failed' | 'open';

function listWith(status: Status, { api, query }: PageContext): Promise<FailingList> {
  const given = { perPage: '50', status: status === 'open' ? 'retrying' : status };
  const asked = queryOf(query, ['team', 'environment', 'cursor'], given);
  return api.get<'OperatorWebhookList'>(`/api/v1/admin/webhooks?${asked.toString()}`);
}

/** Shows the number of webhooks and their team before sending. */
function replayAll(count: number, { query, session }: PageContext): Html {
  const [team, environment] = [query.get('team') ?? '', query.get('environment') ?? ''];
  return actionRow(session.csrf, [
    {
      name: `Resend all ${count}`,
      path: `${path}/replay`,
      says: `Sends ${count} ${count === 1 ? 'webhook' : 'webhooks'} again to the receivers of ${team === '' ? 'all teams' : team}, oldest first, at most 500 at a time. The ids stay the same, so that receivers recognize duplicates.`,
      fields: hiddenFields({ team, environment }),
      does: `Resend ${Math.min(count, 500)}`,
    },
  ]);
}

/** @param replaying absent if the reader may not resend */
function listWithResend(replaying: PageContext | undefined): List<FailingWebhook> {
  const resend = column<FailingWebhook>(
    'resend',
    'Resend',
    (each) => replaying && replayForm(each, replaying),
    { width: 'count', use: 'always' },
  );
  return {
    name: 'webhooks',
    label: 'Webhooks',
    keyOf: ({ id }) => id,
    hasDays: true,
    detail: detailsOf,
    columns: [
      column('about', 'About', ({ body }) => aboutOf(body), { use: 'always' }),
      ...(replaying === undefined ? [] : [resend]),
      column('state', 'Last answer', lastOutcome, { width: 'chip', use: 'always' }),
      column(
        'retry',
        'Next attempt',
        ({ nextAttemptAt }) => (nextAttemptAt === undefined ? '–' : relative(nextAttemptAt)),
        { width: 'word' },
      ),
      createdColumn('Created', ({ createdAt }) => createdAt),
      column('url', 'To', ({ url }) => url, { isSecond: true }),
      teamColumn(),
    ],
  };
}

function lastOutcome({ deliveries }: FailingWebhook): Html | undefined {
  const last = deliveries.at(-1);
  return last === undefined ? undefined : chip(outcomeOf(last), 'bad');
}

/** A refund is found by its token; a test webhook has no subject. */
function aboutOf({ type, token, status }: FailingWebhook['body']): Html {
  const shown = html`${type} ${status} <code>${shortToken(token)}</code>`;
  if (type === 'payment' || type === 'payout')
    return html`<a href="${operationPath(token)}" title="${token}">${shown}</a>`;
  if (type !== 'refund') return shown;
  return html`<a href="/console/search?q=${encodeURIComponent(token)}" title="${token}">${shown}</a>`;
}

const outcomeOf = ({ statusCode, reason }: FailingWebhook['deliveries'][number]): string =>
  statusCode === undefined ? (reason ?? '').replaceAll('_', ' ') : `HTTP ${statusCode}`;

const detailsOf = ({ id, deliveries, body }: FailingWebhook): Html =>
  html`<details id="tries-${id}">
    <summary>
      ${deliveries.length} ${deliveries.length === 1 ? 'attempt' : 'attempts'} with answers, and the body
    </summary>
    ${triesOf(deliveries)} ${raw(`body-${id}`, body, 'Body')}
  </details>`;

const replayForm = ({ id, ...owner }: FailingWebhook, { session, query }: PageContext): Html | undefined =>
  mayDo(session.grants, 'operators:act', owner)
    ? buttonForm(
        replayPathOf(id),
        { csrf: session.csrf, status: query.get('status') ?? 'failed' },
        html`<button class="small">Resend</button>`,
      )
    : undefined;

const replayPathOf = (id: string): string => `${path}/${encodeURIComponent(id)}/replay`;

/** Resends a webhook from the timeline of its payment or payout. */
export const replayFormFor =
  (
    { token, team, environment }: { token: string; team: string; environment: string },
    { session }: Pick<PageContext, 'session'>,
  ) =>
  ({ id, url }: TimelineWebhook): Html =>
    buttonForm(
      replayPathOf(id),
      { csrf: session.csrf, token, team, environment },
      html`<button class="small" title="Sends it to ${url} again, with the same id.">Resend</button>`,
    );

export const replayOne: Action = async ({ api, params }, form) => {
  const id = params['webhook'] ?? '';
  const {
    token,
    status,
    team = '',
    environment = '',
  }: Partial<Record<string, string>> = Object.fromEntries(form);
  const answer = await (token === undefined
    ? api.post('/api/v1/admin/webhooks/replay', { id })
    : api.post('/api/v1/webhooks/replay', { token, id }, { within: { team, environment } }));
  const list = `${path}?status=${status === 'open' ? 'open' : 'failed'}`;
  const location = token === undefined ? list : operationPath(token);
  return answered(answer, location, 'Sent again. The outcome appears in a moment.');
};

export const replayMany: Action = async ({ api }, form) => {
  const filter = Object.fromEntries(queryOf(form, ['team', 'environment']));
  const answer = await api.post<{ replayed: number; nextCursor?: string }>(
    '/api/v1/admin/webhooks/replay',
    filter,
  );
  const location = `${path}?${new URLSearchParams({ status: 'failed', ...filter }).toString()}`;
  return answered(answer, location, ({ replayed, nextCursor }) =>
    nextCursor === undefined
      ? `${replayed} ${replayed === 1 ? 'webhook is' : 'webhooks are'} sent again.`
      : `${replayed} webhooks are sent again. More are left: resend once more.`,
  );
};
