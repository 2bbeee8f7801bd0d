/** The balances of each wallet, and the statement of a month. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { decimalOf } from '../components/amount.ts';
import { filterChips, filterForm, ownerFields } from '../components/filters.ts';
import { type List, type ListColumn, column, listTable } from '../components/table.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

type Balance = AnswerOf<'WalletBalanceList'>['balances'][number];
type Statement = AnswerOf<'OperatorStatementList'>['statements'][number];
type Amounts = Balance['amounts'];

const path = '/console/money';

/** In the order of importance to a person. */
const shownAccounts = Object.keys(texts.ledgerAccounts) as (keyof Amounts)[];
/** Accounts that are always shown; the others only if they are not zero. */
const always = new Set(['available', 'reserved', 'disputed', 'paidOut', 'lost']);

export const moneyPage: Page = async ({ api, query, now }) => {
  const month = query.get('month') || new Date(now).toISOString().slice(0, 7);
  const asked = queryOf(query, ['team', 'environment', 'wallet']);
  const ofMonth = new URLSearchParams([...asked, ['month', month]]);
  const [{ balances }, { statements }, { teams }] = await Promise.all([
    api.get<'WalletBalanceList'>(`/api/v1/admin/balances?${asked.toString()}`),
    api.get<'OperatorStatementList'>(`/api/v1/admin/statements?${ofMonth.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const main = html`<div class="head">
      <h1>Money</h1>
      <div class="actions">
        <a class="button" href="/console/statements.csv?${ofMonth.toString()}" download>Statement as CSV</a>
        <a class="button" href="/console/journal.csv?${daysOf(month, asked).toString()}" download
          >Entries as CSV</a
        >
      </div>
    </div>
    ${filterForm(path, query, { month: 'month', ...ownerFields(teams), wallet: 'text' }, { given: { month } })}
    ${filterChips(path, query, ['month'])}
    <section id="money" data-region="">
      <h2>Balances</h2>
      <p class="calm">
        By wallet, merchant account and currency. Each figure links to its entries.
        <a href="/console/money/journal?${asked.toString()}">All entries</a> ·
        <a href="/console/disputes">Open disputes</a>
      </p>
      ${balances.length === 0 ? html`<p class="empty">No money has moved yet.</p>` : balanceTable(balances)}
      <h2>Statement of ${month}</h2>
      <p class="calm">Opening balance plus entries equals closing balance. Months are in UTC.</p>
      ${statements.length === 0 ? html`<p class="empty">No money moved until the end of this month.</p>` : statements.map(statementTable)}
    </section>`;
  return { title: 'Money', main, isLive: true };
};

/** The days of a month; an invalid month is reported by the API. */
function daysOf(month: string, asked: URLSearchParams): URLSearchParams {
  const next = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)), 1);
  const last = Number.isNaN(next) ? month : new Date(next - 1).toISOString().slice(0, 10);
  const days = new URLSearchParams([...asked, ['dateFrom', `${month}-01`], ['dateTo', last]]);
  days.set('order', 'oldest');
  return days;
}

/** The accounts with columns in the table. */
const accountsIn = (all: readonly Amounts[]): (keyof Amounts)[] =>
  shownAccounts.filter((name) => always.has(name) || all.some((amounts) => amounts[name] !== 0));

const modeOf = ({ environment }: Pick<Balance, 'environment'>): Html | undefined =>
  environment === 'sandbox' ? undefined : html` <small class="production">${environment}</small>`;

function balanceTable(balances: readonly Balance[]): Html {
  const list: List<Balance> = {
    name: 'balances',
    label: 'Balances',
    keyOf: ({ environment, wallet, account, currency }) => [environment, wallet, account, currency].join(' '),
    columns: [
      column(
        'wallet',
        'Wallet',
        (row) => html`<span title="${row.wallet}">${row.wallet}</span>${modeOf(row)}`,
      ),
      column('merchant', 'Account', ({ account, currency }) => `${account} ${currency}`),
      ...sumColumns(
        balances.map(({ amounts }) => amounts),
        linkToEntries,
      ),
    ],
  };
  return listTable(list, balances);
}

/** A column for each ledger account. */
const sumColumns = <Row>(
  all: readonly Amounts[],
  cellOf: (row: Row, account: keyof Amounts) => Html | string,
): ListColumn<Row>[] =>
  accountsIn(all).map((id) =>
    column(id, texts.ledgerAccounts[id] ?? id, (row) => cellOf(row, id), { isNumber: true }),
  );

/** Each figure links to its entries. */
function linkToEntries(
  { environment, wallet, account, currency, amounts }: Balance,
  name: keyof Amounts,
): Html | string {
  const amount = amounts[name];
  if (amount === 0) return decimalOf(0, currency);
  const asked = new URLSearchParams({ environment, wallet, account, currency, ledgerAccount: name });
  return html`<a href="/console/money/journal?${asked.toString()}">${decimalOf(amount, currency)}</a>`;
}

function statementTable(statement: Statement): Html {
  const { wallet, account, currency, opening, entries, closing } = statement;
  const lines = [
    { kind: 'Opening', amounts: opening },
    ...entries.map(({ kind, amounts }) => ({ kind: texts.entryKinds[kind] ?? kind, amounts })),
    { kind: 'Closing', amounts: closing },
  ];
  const list: List<(typeof lines)[number]> = {
    name: 'statement',
    label: `${wallet} ${account} ${currency}`,
    keyOf: ({ kind }) => `${wallet} ${account} ${currency} ${kind}`,
    columns: [
      column('line', '', ({ kind }) => kind),
      ...sumColumns<(typeof lines)[number]>(
        lines.map(({ amounts }) => amounts),
        ({ amounts }, name) => decimalOf(amounts[name], currency),
      ),
    ],
  };
  return html`<h3>${wallet} · ${account} · ${currency}${modeOf(statement)}</h3>
    ${listTable(list, lines)}`;
}
