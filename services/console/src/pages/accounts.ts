/** The merchant accounts: health, share of payments, and state. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { countColumn } from '../components/list-columns.ts';
import { listPage } from '../components/list-page.ts';
import { outcomeNotice } from '../components/notice.ts';
import { chip } from '../components/state.ts';
import { type List, column, listTable } from '../components/table.ts';
import { relative } from '../components/time.ts';
import type { Page } from '../page.ts';
import { changeForms } from './account-changes.ts';

const stateNames = { active: 'Active', draining: 'Draining', paused: 'Paused' };

const circuitNames = {
  closed: 'Closed',
  open: 'Open: calls paused',
  'half-open': 'Half-open: testing one call',
};

const path = '/console/accounts';

export type Account = AnswerOf<'AccountList'>['accounts'][number];

export const accountsPage: Page = async (context) => {
  const listed = await context.api.get<'AccountList'>('/api/v1/admin/accounts');
  const { accounts, fileFault } = listed;
  const fault = fileFault && `The accounts file could not be read. The accounts are unchanged. ${fileFault}`;
  const changes = html`<section id="changes" aria-labelledby="changes-title">
    <h2 id="changes-title">Changes</h2>
    ${changeForms(listed, context)}
  </section>`;
  return listPage(context, {
    title: 'Merchant accounts',
    path,
    list: accountList(accounts),
    rows: inOrder(accounts),
    nextCursor: undefined,
    none: 'No account is configured.',
    note: 'Accounts at the Payment Service, as this process sees them. Their terms are in the accounts file.',
    before: fault === undefined ? undefined : outcomeNotice({ isDone: false, text: fault }),
    after: html`${accounts.map(whyClosed)}`,
    below: changes,
  });
};

const inTrouble = { open: 0, 'half-open': 1, closed: 2 };
const closedFirst = { paused: 0, draining: 1, active: 2 };
const tones = { closed: 'good', open: 'bad', 'half-open': 'note' };

/** Paused accounts and open circuits come first. */
const inOrder = (accounts: readonly Account[]): Account[] =>
  accounts.toSorted(
    (one, other) =>
      closedFirst[one.state] - closedFirst[other.state] || inTrouble[one.circuit] - inTrouble[other.circuit],
  );

export const accountTable = (accounts: readonly Account[]): Html =>
  listTable(accountList(accounts), inOrder(accounts));

const accountList = (all: readonly Account[]): List<Account> => ({
  name: 'accounts',
  label: 'Merchant accounts',
  keyOf: ({ environment, account }) => `${environment}/${account}`,
  columns: [
    column('account', 'Account', nameCell, { use: 'always' }),
    column('state', 'State', stateOf, { width: 'word', use: 'always' }),
    column('circuit', 'Circuit', circuitCell, { width: 'time', use: 'always' }),
    column(
      'due',
      'Inquiry due since',
      ({ oldestDueAt }) => (oldestDueAt === undefined ? 'none' : relative(oldestDueAt)),
      { width: 'time' },
    ),
    countColumn('share', 'Share', (account) => shareOf(account, all)),
    countColumn('concurrent', 'Under way', (each) => `${each.callsUnderWay} of ${each.concurrentCallsMax}`),
    countColumn('waiting', 'Waiting', ({ waiting }) => waiting),
    countColumn('calls', 'Calls / s', ({ callsPerSecondMax }) => callsPerSecondMax),
    countColumn('inquiries', 'Inquiries / s', (each) => each.inquiriesPerSecondMax, { isSecond: true }),
    column('serves', 'Serves', servedText, { isSecond: true }),
  ],
});

function nameCell({ account, environment }: Account): Html {
  const payments = `/console/payments?${new URLSearchParams({ account, environment }).toString()}`;
  const tone = environment === 'production' ? 'production' : 'calm';
  return html`<a href="${payments}" title="${account}">${account}</a>
    <small class="${tone}">${environment}</small>`;
}

const circuitCell = ({ circuit }: Account): Html => chip(circuitNames[circuit], tones[circuit]);

const servedText = ({ teams, currencies }: Account): string =>
  [teams?.join(' ') ?? 'all teams', currencies?.join(' ') ?? 'all currencies'].join(', ');

const stateTones = { active: 'good', draining: 'note', paused: 'bad' };

const stateOf = ({ state }: Account): Html => chip(stateNames[state], stateTones[state]);

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
