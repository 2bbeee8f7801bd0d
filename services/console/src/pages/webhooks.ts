/** Undelivered webhooks of all teams, with their attempts and bodies, and resending. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { queryOf } from '../api.ts';
import { actionRow } from '../components/actions.ts';
import { filterChips } from '../components/filter-chips.ts';
import { createdColumn, teamColumn } from '../components/list-columns.ts';
import { outcomeSection, answered } from '../components/notice.ts';
import { ownerChoices } from '../components/payment-filters.ts';
import { paymentPath } from '../components/payment-list.ts';
import { chip } from '../components/state.ts';
import { type List, type ListColumn, columnMenu, listTable, pager, tabs } from '../components/table.ts';
import { relative } from '../components/time.ts';
import { raw, triesOf } from '../components/timeline-items.ts';
import { shortToken } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { payoutPath } from './payouts.ts';

const viewNames = { failed: 'Failed', open: 'Retrying' };
const viewHelp = {
  failed: 'All attempts failed. Nothing more is sent unless you resend it.',
  open: 'An attempt failed. The next one follows automatically.',
};
const path = '/console/webhooks';

type FailingList = AnswerOf<'OperatorWebhookList'>;
type FailingWebhook = FailingList['webhooks'][number];

export const webhooksPage: Page = async (context) => {
  const { api, query, outcome, session } = context;
  const { teams } = await api.get<'TeamNames'>('/api/v1/admin/teams');
  let status: Status = query.get('status') === 'open' ? 'open' : 'failed';
  let list = await listWith(status, context);
  // Abandoned webhooks first; if there are none, those being retried.
  if (query.get('status') === null && list.count === 0) {
    status = 'open';
    list = await listWith(status, context);
  }
  const mayReplay = mayDo(session.grants, 'operators:act', {});
  const table = listWithResend(mayReplay ? context : undefined);
  const chosen = context.columnsOf(table.name);
  const main = html`<div class="head">
      <h1>Webhooks</h1>
      ${columnMenu(table, path, query, chosen)}
    </div>
    <p class="calm">Undelivered webhooks of all teams. ${viewHelp[status]}</p>
    ${outcomeSection(outcome)}
    ${tabs(
      'Webhooks',
      `${path}?status=${status}`,
      (['failed', 'open'] as const).map((each) => [viewNames[each], `${path}?status=${each}`]),
    )}
    <form class="filters" action="${path}">
      <input type="hidden" name="status" value="${status}" />
      ${ownerChoices(query, teams)}
      <button>Show</button>
    </form>
    ${filterChips(path, query, ['status'])}
    <section id="webhooks" data-region="">
      ${mayReplay && status === 'failed' && list.count > 0 ? replayAll(list.count, context) : undefined}
      ${list.webhooks.length === 0 ? none : listTable(table, list.webhooks, chosen)}
      ${pager(path, query, list.nextCursor)}
    </section>`;
  return { title: 'Webhooks', main, isLive: query.get('cursor') === null };
};

const none = html`<p class="empty good">
  No webhook here. <span class="calm">A webhook appears here while its receiver does not accept it.</span>
</p>`;

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
      fields: html`<input type="hidden" name="team" value="${team}" />
        <input type="hidden" name="environment" value="${environment}" />`,
      does: `Resend ${Math.min(count, 500)}`,
    },
  ]);
}

/** @param replaying absent if the reader may not resend */
function listWithResend(replaying: PageContext | undefined): List<FailingWebhook> {
  const resend: ListColumn<FailingWebhook> = {
    id: 'resend',
    name: 'Resend',
    width: 'count',
    use: 'always',
    cell: (webhook) => replaying && replayForm(webhook, replaying),
  };
  return {
    name: 'webhooks',
    label: 'Webhooks',
    keyOf: ({ id }) => id,
    hasDays: true,
    detail: detailsOf,
    columns: [
      { id: 'about', name: 'About', use: 'always', cell: ({ body }) => aboutOf(body) },
      ...(replaying === undefined ? [] : [resend]),
      { id: 'state', name: 'Last answer', width: 'chip', use: 'always', cell: lastOutcome },
      {
        id: 'retry',
        name: 'Next attempt',
        width: 'word',
        cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? '–' : relative(nextAttemptAt)),
      },
      createdColumn('Created', ({ createdAt }) => createdAt),
      { id: 'url', name: 'To', isSecond: true, cell: ({ url }) => url },
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
  const paths: Readonly<Record<string, string>> = {
    payment: paymentPath(token),
    payout: payoutPath(token),
    refund: `/console/search?q=${encodeURIComponent(token)}`,
  };
  const address = paths[type];
  return address === undefined ? shown : html`<a href="${address}" title="${token}">${shown}</a>`;
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

const replayForm = (webhook: FailingWebhook, { session, query }: PageContext): Html | undefined =>
  mayDo(session.grants, 'operators:act', webhook) ? replayFormOf(webhook.id, { session, query }) : undefined;

const replayFormOf = (id: string, { session, query }: Pick<PageContext, 'session' | 'query'>): Html =>
  html`<form method="post" action="${path}/${encodeURIComponent(id)}/replay">
    <input type="hidden" name="csrf" value="${session.csrf}" />
    <input type="hidden" name="status" value="${query.get('status') ?? 'failed'}" />
    <button class="small">Resend</button>
  </form>`;

export const replayOne: Action = async ({ api, params }, form) => {
  const answer = await api.post('/api/v1/admin/webhooks/replay', { id: params['webhook'] ?? '' });
  const location = `${path}?status=${form.get('status') === 'open' ? 'open' : 'failed'}`;
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
