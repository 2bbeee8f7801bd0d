/** The refunds of all teams: first those that are under way. */
import { type Html, html } from '@tollgate/service-kit';
import { amount } from '../components/amount.ts';
import { choice } from '../components/choice.ts';
import { outcomeNotice } from '../components/notice.ts';
import { entry, environmentChoice, instantEntry } from '../components/payment-filters.ts';
import { paymentPath } from '../components/payment-list.ts';
import { toApiQuery, wrongFilters, wrongTexts } from '../components/payment-query.ts';
import { chip } from '../components/state.ts';
import { pager, rowTable, tabs } from '../components/table.ts';
import { timeInColumn, zone } from '../components/time.ts';
import { shortToken } from '../components/token.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.refunds;

/** As the API lists it. */
interface ListedRefund {
  token: string;
  paymentToken: string;
  team: string;
  environment: string;
  status: string;
  phase: string;
  amount: number;
  currency: string;
  errors: readonly { code: string }[];
  reviews: readonly unknown[];
  createdAt: string;
  updatedAt: string;
}

interface RefundList {
  refunds: readonly ListedRefund[];
  nextCursor?: string;
}

/** By status; the first is what there is to watch. */
const views = [
  ['open', 'pending'],
  ['all', ''],
  ['approved', 'approved'],
  ['declined', 'declined'],
] as const;
const addressOf = (status: string): string => `/console/refunds?status=${status}`;

export const refundsPage: Page = async ({ api, query, now }) => {
  const wrong = wrongFilters(query);
  const asked = toApiQuery(query, now);
  const status = query.get('status') ?? 'pending';
  if (status !== '') asked.set('status', status);
  const none: RefundList = { refunds: [] };
  const [{ refunds, nextCursor }, { teams }] = await Promise.all([
    wrong.length > 0 ? none : api.get<RefundList>(`/api/v1/admin/refunds?${asked.toString()}`),
    api.get<{ teams: string[] }>('/api/v1/admin/teams'),
  ]);
  const list = html`${refunds.length === 0 ? empty : refundTable(refunds)}
  ${pager('/console/refunds', query, nextCursor)}`;
  const main = html`<div class="head">
      <h1>${words.title}</h1>
      ${wrong.length > 0 ? undefined : csvLink(asked)}
    </div>
    ${tabs(
      words.title,
      addressOf(status),
      views.map(([name, each]) => [words.views[name], addressOf(each)]),
    )}
    ${filterForm(query, status, teams)}
    <section id="refunds" data-region="">
      ${wrong.length > 0 ? outcomeNotice({ isDone: false, text: wrongTexts(wrong) }) : list}
    </section>`;
  const isLive = query.get('cursor') === null && wrong.length === 0;
  return { title: words.title, main, isLive, ...(wrong.length > 0 && { status: 400 }) };
};

const empty = html`<p class="empty">${words.empty} <span class="calm">${words.emptyHow}</span></p>`;

/** To the file with what the list shows, on this page and on others. */
function csvLink(asked: URLSearchParams): Html {
  const all = new URLSearchParams(asked);
  for (const name of ['perPage', 'cursor']) all.delete(name);
  return html`<a
    class="button"
    href="/console/refunds.csv?${all.toString()}"
    title="${words.csvTitle}"
    download
    >${texts.payments.csv}</a
  >`;
}

function filterForm(query: URLSearchParams, status: string, teams: readonly string[]): Html {
  const { filters } = texts.payments;
  const value = (name: string) => query.get(name) ?? '';
  return html`<form class="filters" action="/console/refunds">
    <input type="hidden" name="status" value="${status}" />
    ${choice('team', filters.team, value('team'), { any: filters.any, options: teams.map((team) => [team, team]) })}
    ${environmentChoice(value('environment'))} ${entry('currency', filters.currency, value('currency'))}
    ${entry('paymentToken', words.filters.payment, value('paymentToken'))}
    ${instantEntry('from', words.filters.from, value('from'))}
    ${instantEntry('to', words.filters.to, value('to'))}
    <button>${filters.apply}</button>
  </form>`;
}

function refundTable(refunds: readonly ListedRefund[]): Html {
  const { columns } = words;
  return rowTable(
    words.title,
    [
      { name: html`${columns.created} ${zone}` },
      { name: columns.state },
      { name: columns.amount, isNumber: true },
      { name: columns.why, isSecond: true },
      { name: columns.team },
      { name: columns.changed, isSecond: true },
      { name: columns.payment },
      { name: columns.token, isSecond: true },
    ],
    refunds.map(refundRow),
  );
}

const tones: Readonly<Record<string, string>> = { submitted: 'busy', unresolved: 'note', accepted: 'busy' };

function refundRow(refund: ListedRefund): Html {
  const { token, paymentToken, phase, team, environment, errors, reviews } = refund;
  const mode =
    environment === 'sandbox' ? undefined : html` <small class="production">${environment}</small>`;
  const asked = reviews.length === 0 ? undefined : html` ${chip(texts.payments.review, 'note')}`;
  const state = tones[phase] === undefined ? chip(phase) : chip(words.phases[phase] ?? phase, tones[phase]);
  return html`<tr data-row="">
    <td>${timeInColumn(refund.createdAt)}</td>
    <td>${state}${asked}</td>
    <td class="number">${amount(refund.amount, refund.currency)}</td>
    <td class="text second">${errors.map(({ code }) => code).join(', ')}</td>
    <td>${team}${mode}</td>
    <td class="second">${timeInColumn(refund.updatedAt)}</td>
    <td>
      <a href="${paymentPath(paymentToken)}" title="${paymentToken}"
        ><code>${shortToken(paymentToken)}</code></a
      >
    </td>
    <td class="second"><code title="${token}">${shortToken(token)}</code></td>
  </tr>`;
}
