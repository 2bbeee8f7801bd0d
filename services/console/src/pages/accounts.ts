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

const stateNames = { active: 'Active', draining: 'Draining', paused: 'Paused' };

const circuitNames = {
  closed: 'Closed',
  open: 'Open: calls paused',
  'half-open': 'Half-open: testing one call',
};

const countNames = {
  share: 'Share',
  concurrent: 'Under way',
  waiting: 'Waiting',
  calls: 'Calls / s',
  inquiries: 'Inquiries / s',
};
const path = '/console/accounts';

export type Account = AnswerOf<'AccountList'>['accounts'][number];

export const accountsPage: Page = async (context) => {
  const listed = await context.api.get<'AccountList'>('/api/v1/admin/accounts');
  const { accounts, fileFault } = listed;
  const { outcome } = context;
  const asked = context.query.get('balance');
  const chosen = context.columnsOf('accounts');
  const main = html`<div class="head">
      <h1>Merchant accounts</h1>
      ${columnMenu(accountList(accounts), path, context.query, chosen)}
    </div>
    <p class="calm">
      Accounts at the Payment Service, as this process sees them. Their terms are in the accounts file.
    </p>
    ${outcomeSection(outcome)}
    <section id="accounts" data-region="">
      ${fileFault === undefined ? undefined : outcomeNotice({ isDone: false, text: `The accounts file could not be read. The accounts are unchanged. ${fileFault}` })}
      ${accounts.length === 0 ? html`<p class="empty">No account is configured.</p>` : html`${accountTable(accounts, chosen)} ${accounts.map(whyClosed)}`}
    </section>
    <section id="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">Changes</h2>
      ${changeForms(listed, context)}
    </section>
    <section id="balance" aria-labelledby="balance-title">
      <h2 id="balance-title">Balance</h2>
      ${balanceForm(accounts, context.query)} ${asked === null ? undefined : await balanceOf(asked, context)}
    </section>`;
  // A balance is loaded once per request: a live page would call the Payment Service each second.
  return { title: 'Merchant accounts', main, isLive: asked === null };
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
  label: 'Merchant accounts',
  keyOf: ({ environment, account }) => `${environment}/${account}`,
  columns: [
    { id: 'account', name: 'Account', use: 'always', cell: nameCell },
    { id: 'state', name: 'State', width: 'word', use: 'always', cell: stateOf },
    { id: 'circuit', name: 'Circuit', width: 'time', use: 'always', cell: circuitCell },
    {
      id: 'due',
      name: 'Inquiry due since',
      width: 'time',
      cell: ({ oldestDueAt }) => (oldestDueAt === undefined ? 'none' : relative(oldestDueAt)),
    },
    countColumn('share', (account) => shareOf(account, all)),
    countColumn(
      'concurrent',
      ({ callsUnderWay, concurrentCallsMax }) => `${callsUnderWay} of ${concurrentCallsMax}`,
    ),
    countColumn('waiting', ({ waiting }) => String(waiting)),
    countColumn('calls', ({ callsPerSecondMax }) => String(callsPerSecondMax)),
    { ...countColumn('inquiries', (account) => String(account.inquiriesPerSecondMax)), isSecond: true },
    { id: 'serves', name: 'Serves', isSecond: true, cell: servedText },
  ],
});

const countColumn = (
  id: keyof typeof countNames,
  cell: ListColumn<Account>['cell'],
): ListColumn<Account> => ({ id, name: countNames[id], width: 'count', isNumber: true, cell });

function nameCell({ account, environment }: Account): Html {
  const payments = `/console/payments?${new URLSearchParams({ account, environment }).toString()}`;
  const tone = environment === 'production' ? 'production' : 'calm';
  return html`<a href="${payments}" title="${account}">${account}</a>
    <small class="${tone}">${environment}</small>`;
}

const circuitCell = ({ circuit }: Account): Html =>
  html`<span class="chip ${tones[circuit]}">${sign(tones[circuit])}${circuitNames[circuit]}</span>`;

const servedText = ({ teams, currencies }: Account): string =>
  [teams?.join(' ') ?? 'all teams', currencies?.join(' ') ?? 'all currencies'].join(', ');

const stateTones = { active: 'good', draining: 'note', paused: 'bad' };

function stateOf({ state }: Account): Html {
  const tone = stateTones[state];
  return html`<span class="chip ${tone}">${sign(tone)}${stateNames[state]}</span>`;
}

/** The person who paused the account, and the reason; not shown for an active account. */
function whyClosed({ account, environment, state, lastChange }: Account): Html | undefined {
  if (state === 'active' || lastChange === undefined) return undefined;
  const { at, by, reason } = lastChange;
  return html`<p>${account} (${environment}): ${stateNames[state]} by ${by}, ${relative(at)}: ${reason}</p>`;
}

/** Approximate share among accounts of the same priority, ignoring teams and currencies. */
function shareOf({ environment, priority, weight }: Account, all: readonly Account[]): string {
  const rivals = all.filter((each) => each.environment === environment && each.priority === priority);
  const sum = rivals.reduce((total, each) => total + each.weight, 0);
  const percent = `${((100 * weight) / sum).toFixed(weight === sum ? 0 : 1)} %`;
  return priority === 0 ? percent : `${percent} of priority ${priority}`;
}

function balanceForm(accounts: readonly Account[], query: URLSearchParams): Html {
  return html`<form class="inline" action="${path}">
    ${choice('balance', 'Account', query.get('balance') ?? '', { options: accountOptions(accounts) })}
    <label
      >Currency<input
        name="currency"
        value="${query.get('currency') ?? 'EUR'}"
        required
        pattern="[A-Z]{3}"
        maxlength="3"
        size="4"
        autocomplete="off"
    /></label>
    <button>Ask the Payment Service</button>
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
    ['Account', asked.split('/', 2)[1]],
    ['Available', amount(wallet.available, wallet.currency)],
    ['Reserved', amount(wallet.hold, wallet.currency)],
  ]);
}
