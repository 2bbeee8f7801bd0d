/** The entries of the ledger: what moved the money, with links to what they are about. */
import { type Html, html } from '@tollgate/service-kit';
import { amountText } from '../components/amount.ts';
import { csvLink } from '../components/csv-menu.ts';
import { choice } from '../components/choice.ts';
import { filterChips } from '../components/filter-chips.ts';
import { entry, environmentChoice } from '../components/payment-filters.ts';
import { paymentPath } from '../components/payment-list.ts';
import { pager, rowTable } from '../components/table.ts';
import { timeInColumn, zone } from '../components/time.ts';
import { shortToken } from '../components/token.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';
import { payoutPath } from './payouts.ts';

const words = texts.money.journal;
const perPage = 50;

/** As the API lists it. */
interface Entry {
  time: string;
  kind: string;
  eventType: string;
  token: string;
  environment: string;
  team?: string;
  wallet: string;
  account: string;
  currency: string;
  postings: readonly { ledgerAccount: string; amount: number }[];
}

const filterNames = [
  ...['team', 'environment', 'wallet', 'account', 'currency', 'ledgerAccount', 'kind', 'token'],
  ...['dateFrom', 'dateTo', 'order', 'cursor'],
];

export const journalPage: Page = async ({ api, query }) => {
  const asked = new URLSearchParams({ perPage: String(perPage) });
  for (const name of filterNames) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  const [{ entries, nextCursor }, { teams }] = await Promise.all([
    api.get<{ entries: readonly Entry[]; nextCursor?: string }>(`/api/v1/admin/journal?${asked.toString()}`),
    api.get<{ teams: string[] }>('/api/v1/admin/teams'),
  ]);
  const nothing = nextCursor === undefined ? words.empty : words.further;
  const main = html`<div class="head">
      <h1>${words.title}</h1>
      ${csvLink('/console/journal', asked)}
    </div>
    ${filterForm(query, teams)} ${filterChips('/console/money/journal', query)}
    <section id="journal" data-region="">
      ${entries.length === 0 ? html`<p class="empty">${nothing}</p>` : entryTable(entries)}
      ${pager('/console/money/journal', query, nextCursor)}
    </section>`;
  return { title: words.title, main, isLive: query.get('cursor') === null };
};

function filterForm(query: URLSearchParams, teams: readonly string[]): Html {
  const { filters } = texts.payments;
  const value = (name: string) => query.get(name) ?? '';
  const { accounts, kinds } = texts.money;
  return html`<form class="filters" action="/console/money/journal">
    ${choice('team', filters.team, value('team'), { any: filters.any, options: teams.map((team) => [team, team]) })}
    ${environmentChoice(value('environment'))} ${entry('wallet', texts.money.filters.wallet, value('wallet'))}
    ${entry('currency', filters.currency, value('currency'))}
    ${choice('ledgerAccount', words.ledgerAccount, value('ledgerAccount'), { any: filters.any, options: Object.entries(accounts) })}
    ${choice('kind', words.kind, value('kind'), { any: filters.any, options: Object.entries(kinds) })}
    ${entry('token', words.token, value('token'))}
    ${['account', 'dateFrom', 'dateTo', 'order'].map((name) =>
      value(name) === '' ? undefined : html`<input type="hidden" name="${name}" value="${value(name)}" />`,
    )}
    <button>${filters.apply}</button>
  </form>`;
}

function entryTable(entries: readonly Entry[]): Html {
  const { columns } = words;
  return rowTable(
    words.title,
    [
      { name: html`${columns.time} ${zone}` },
      { name: columns.kind },
      { name: columns.about },
      { name: columns.event, isSecond: true },
      { name: columns.wallet, isSecond: true },
      { name: columns.team },
      { name: columns.postings },
    ],
    entries.map(
      (each) =>
        html`<tr data-row="">
          <td>${timeInColumn(each.time)}</td>
          <td>${texts.money.kinds[each.kind] ?? each.kind}</td>
          <td>${aboutLink(each.token)}</td>
          <td class="second"><code>${each.eventType}</code></td>
          <td class="second">${each.wallet}</td>
          <td>${each.team}</td>
          <td class="text">${postingsText(each)}</td>
        </tr>`,
    ),
  );
}

const postingsText = ({ postings, currency }: Entry): string =>
  postings
    .map(({ ledgerAccount, amount }) => {
      const name = texts.money.accounts[ledgerAccount] ?? ledgerAccount;
      return `${name} ${amount > 0 ? '+' : ''}${amountText(amount, currency)}`;
    })
    .join(', ');

/** By how tokens of ours begin. A transfer has no page. */
function aboutLink(token: string): Html {
  const shown = html`<code>${shortToken(token)}</code>`;
  if (token.startsWith('trf_')) return html`<span title="${token}">${shown}</span>`;
  const path = token.startsWith('po_') ? payoutPath(token) : paymentPath(token);
  return html`<a href="${path}" title="${token}">${shown}</a>`;
}
