/** The merchant accounts: health, share of payments, state, and balance. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { amount } from '../components/amount.ts';
import { accountOptions, choice } from '../components/choice.ts';
import { factList } from '../components/facts.ts';
import { errorText, outcomeNotice, outcomeSection } from '../components/notice.ts';
import { changeForms } from './account-changes.ts';
import { sign } from '../components/state.ts';
import { type List, type ListColumn, columnMenu, listTable } from '../components/table.ts';
import { relative } from '../components/time.ts';
import type { Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.accounts;
const path = '/console/accounts';

export type Account = AnswerOf<'AccountList'>['accounts'][number];

export const accountsPage: Page = async (context) => {
  const listed = await context.api.get<'AccountList'>('/api/v1/admin/accounts');
  const { accounts, fileFault } = listed;
  const { outcome } = context;
  const asked = context.query.get('balance');
  const chosen = context.columnsOf('accounts');
  const main = html`<div class="head">
      <h1>${words.title}</h1>
      ${columnMenu(accountList(accounts), path, context.query, chosen)}
    </div>
    <p class="calm">${words.intro}</p>
    ${outcomeSection(outcome)}
    <section id="accounts" data-region="">
      ${fileFault === undefined ? undefined : outcomeNotice({ isDone: false, text: words.fileFault(fileFault) })}
      ${accounts.length === 0 ? html`<p class="empty">${words.empty}</p>` : html`${accountTable(accounts, chosen)} ${accounts.map(whyClosed)}`}
    </section>
    <section id="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">${words.changes.title}</h2>
      ${changeForms(listed, context)}
    </section>
    <section id="balance" aria-labelledby="balance-title">
      <h2 id="balance-title">${words.balance.title}</h2>
      ${balanceForm(accounts, context.query)} ${asked === null ? undefined : await balanceOf(asked, context)}
    </section>`;
  // A balance is loaded once per request: a live page would call the Payment Service each second.
  return { title: words.title, main, isLive: asked === null };
};

const inTrouble = { open: 0, 'half-open': 1, closed: 2 };
const closedFirst = { paused: 0, draining: 1, active: 2 };
const tones = { closed: 'good', open: 'bad', 'half-open': 'note' };

/** Paused accounts and open circuits come first. */
export function accountTable(accounts: readonly Account[], chosen?: ReadonlySet<string>): Html {
  const sorted = accounts.toSorted(
    (one, other) =>
      closedFirst[one.state] - closedFirst[other.state] || inTrouble[one.circuit] - inTrouble[other.circuit],
  );
  return listTable(accountList(accounts), sorted, chosen);
}

const accountList = (all: readonly Account[]): List<Account> => ({
  name: 'accounts',
  label: words.title,
  keyOf: ({ environment, account }) => `${environment}/${account}`,
  columns: [
    { id: 'account', name: words.columns.account, use: 'always', cell: nameCell },
    { id: 'state', name: words.columns.state, width: 'word', use: 'always', cell: stateOf },
    { id: 'circuit', name: words.columns.circuit, width: 'time', use: 'always', cell: circuitCell },
    {
      id: 'due',
      name: words.columns.oldestDue,
      width: 'time',
      cell: ({ oldestDueAt }) => (oldestDueAt === undefined ? words.nothingDue : relative(oldestDueAt)),
    },
    countColumn('share', (account) => shareOf(account, all)),
    countColumn('concurrent', ({ callsUnderWay, concurrentCallsMax }) =>
      words.ofMost(callsUnderWay, concurrentCallsMax),
    ),
    countColumn('waiting', ({ waiting }) => String(waiting)),
    countColumn('calls', ({ callsPerSecondMax }) => String(callsPerSecondMax)),
    { ...countColumn('inquiries', (account) => String(account.inquiriesPerSecondMax)), isSecond: true },
    { id: 'serves', name: words.columns.serves, isSecond: true, cell: servedText },
  ],
});

const countColumn = (
  id: 'share' | 'concurrent' | 'waiting' | 'calls' | 'inquiries',
  cell: ListColumn<Account>['cell'],
): ListColumn<Account> => ({ id, name: words.columns[id], width: 'count', isNumber: true, cell });

function nameCell({ account, environment }: Account): Html {
  const payments = `/console/payments?${new URLSearchParams({ account, environment }).toString()}`;
  const tone = environment === 'production' ? 'production' : 'calm';
  return html`<a href="${payments}" title="${account}">${account}</a>
    <small class="${tone}">${environment}</small>`;
}

const circuitCell = ({ circuit }: Account): Html =>
  html`<span class="chip ${tones[circuit]}"
    >${sign(tones[circuit])}${texts.overview.circuits[circuit]}</span
  >`;

const servedText = ({ teams, currencies }: Account): string =>
  [teams?.join(' ') ?? words.everybody, currencies?.join(' ') ?? words.everyCurrency].join(', ');

const stateTones = { active: 'good', draining: 'note', paused: 'bad' };

function stateOf({ state }: Account): Html {
  const tone = stateTones[state];
  return html`<span class="chip ${tone}">${sign(tone)}${words.states[state]}</span>`;
}

/** The person who paused the account, and the reason; not shown for an active account. */
function whyClosed({ account, environment, state, lastChange }: Account): Html | undefined {
  if (state === 'active' || lastChange === undefined) return undefined;
  const { at, by, reason } = lastChange;
  return html`<p>
    ${words.closed(account, environment, words.states[state], by)} ${relative(at)}: ${reason}
  </p>`;
}

/** Approximate share among accounts of the same priority, ignoring teams and currencies. */
function shareOf({ environment, priority, weight }: Account, all: readonly Account[]): string {
  const rivals = all.filter((each) => each.environment === environment && each.priority === priority);
  const sum = rivals.reduce((total, each) => total + each.weight, 0);
  return words.share(`${((100 * weight) / sum).toFixed(weight === sum ? 0 : 1)} %`, priority);
}

function balanceForm(accounts: readonly Account[], query: URLSearchParams): Html {
  const { account, currency, does } = words.balance;
  return html`<form class="inline" action="${path}">
    ${choice('balance', account, query.get('balance') ?? '', { options: accountOptions(accounts) })}
    <label
      >${currency}<input
        name="currency"
        value="${query.get('currency') ?? 'EUR'}"
        required
        pattern="[A-Z]{3}"
        maxlength="3"
        size="4"
        autocomplete="off"
    /></label>
    <button>${does}</button>
  </form>`;
}

async function balanceOf(asked: string, { api, query }: PageContext): Promise<Html> {
  const [environment = '', account = ''] = asked.split('/', 2).map(encodeURIComponent);
  const currency = new URLSearchParams({ currency: query.get('currency') ?? '' }).toString();
  const answer = await api.call<AnswerOf<'Balance'>>({
    path: `/api/v1/admin/accounts/${environment}/${account}/balance?${currency}`,
  });
  if (answer.kind === 'refused') {
    const { errors, requestId } = answer;
    return outcomeNotice({ isDone: false, text: errorText(errors), requestId });
  }
  const { wallet } = answer.body;
  return factList([
    [words.balance.of, asked.split('/', 2)[1]],
    [words.balance.available, amount(wallet.available, wallet.currency)],
    [words.balance.hold, amount(wallet.hold, wallet.currency)],
  ]);
}
