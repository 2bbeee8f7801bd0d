/** The entries of the ledger: the cause of every movement of money, with links. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { amountText } from '../components/amount.ts';
import { csvLink } from '../components/csv-menu.ts';
import { choice } from '../components/choice.ts';
import { filterChips } from '../components/filter-chips.ts';
import { createdColumn } from '../components/list-columns.ts';
import { entry, ownerChoices } from '../components/payment-filters.ts';
import { paymentPath } from '../components/payment-list.ts';
import { type List, columnMenu, listTable, pager } from '../components/table.ts';
import { shortToken } from '../components/token.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';
import { payoutPath } from './payouts.ts';

const path = '/console/money/journal';

type Entry = AnswerOf<'OperatorJournal'>['entries'][number];

const filterNames = [
  ...['team', 'environment', 'wallet', 'account', 'currency', 'ledgerAccount', 'kind', 'token'],
  ...['dateFrom', 'dateTo', 'order', 'cursor'],
];

export const journalPage: Page = async ({ api, query, columnsOf }) => {
  const asked = queryOf(query, filterNames, { perPage: '50' });
  const [{ entries, nextCursor }, { teams }] = await Promise.all([
    api.get<'OperatorJournal'>(`/api/v1/admin/journal?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const chosen = columnsOf(list.name);
  const nothing =
    nextCursor === undefined
      ? 'No entry matches these filters.'
      : 'None of the 5,000 entries from here on matches these filters. The next page looks further.';
  const main = html`<div class="head">
      <h1>Journal</h1>
      ${columnMenu(list, path, query, chosen)} ${csvLink('/console/journal', asked)}
    </div>
    ${filterForm(query, teams)} ${filterChips(path, query)}
    <section id="journal" data-region="">
      ${entries.length === 0 ? html`<p class="empty">${nothing}</p>` : listTable(list, entries, chosen)}
      ${pager(path, query, nextCursor)}
    </section>`;
  return { title: 'Journal', main, isLive: query.get('cursor') === null };
};

function filterForm(query: URLSearchParams, teams: readonly string[]): Html {
  const value = (name: string) => query.get(name) ?? '';
  return html`<form class="filters" action="${path}">
    ${ownerChoices(query, teams)} ${entry('wallet', 'Wallet', value('wallet'))}
    ${entry('currency', 'Currency', value('currency'))}
    ${choice('ledgerAccount', 'Ledger account', value('ledgerAccount'), { any: 'any', options: Object.entries(texts.ledgerAccounts) })}
    ${choice('kind', 'Kind', value('kind'), { any: 'any', options: Object.entries(texts.entryKinds) })}
    ${entry('token', 'Payment, refund or payout', value('token'))}
    ${['account', 'dateFrom', 'dateTo', 'order'].map((name) =>
      value(name) === '' ? undefined : html`<input type="hidden" name="${name}" value="${value(name)}" />`,
    )}
    <button>Show</button>
  </form>`;
}

const list: List<Entry> = {
  name: 'journal',
  label: 'Journal',
  keyOf: ({ token, time, kind, postings }) => [token, time, kind, JSON.stringify(postings)].join(' '),
  hasDays: true,
  columns: [
    {
      id: 'about',
      name: 'About',
      width: 'token',
      use: 'always',
      cell: ({ token }) => aboutLink(token),
    },
    createdColumn('Time', ({ time }) => time),
    {
      id: 'kind',
      name: 'Kind',
      width: 'time',
      cell: ({ kind }) => texts.entryKinds[kind] ?? kind,
    },
    { id: 'postings', name: 'Postings', use: 'always', cell: postingsText },
    { id: 'event', name: 'Event', use: 'asked', cell: ({ eventType }) => eventType },
    { id: 'wallet', name: 'Wallet', width: 'name', isSecond: true, cell: ({ wallet }) => wallet },
    { id: 'team', name: 'Team', width: 'name', cell: ({ team }) => team },
  ],
};

function postingsText({ postings, currency }: Entry): string {
  const shown = postings.map(({ ledgerAccount, amount }) => {
    const name = texts.ledgerAccounts[ledgerAccount] ?? ledgerAccount;
    return `${name} ${amount > 0 ? '+' : ''}${amountText(amount, currency)}`;
  });
  return shown.join(', ');
}

/** By the prefix of our tokens. A transfer has no page. */
function aboutLink(token: string): Html {
  const shown = html`<code>${shortToken(token)}</code>`;
  if (token.startsWith('trf_')) return html`<span title="${token}">${shown}</span>`;
  const path = token.startsWith('po_') ? payoutPath(token) : paymentPath(token);
  return html`<a href="${path}" title="${token}">${shown}</a>`;
}
