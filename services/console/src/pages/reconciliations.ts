/** The reconciliations with the Payment Service, newest first, and a form to request more. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html, dayMs } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { queryOf } from '../api.ts';
import { accountOptions, choice } from '../components/choice.ts';
import { hiddenFields } from '../components/form.ts';
import { countColumn } from '../components/list-columns.ts';
import { listPage } from '../components/list-page.ts';
import { answered, shownAt } from '../components/notice.ts';
import { chip } from '../components/state.ts';
import { type List, column } from '../components/table.ts';
import { relative } from '../components/time.ts';
import type { Action, Page, PageContext } from '../page.ts';
import type { Account } from './accounts.ts';

const outcomeNames = {
  complete: 'to the cent',
  differs: 'differs',
  incomplete: 'incomplete',
  account_unknown: 'account not configured',
};
export const byNames = { schedule: 'the schedule', person: 'a person' };
const path = '/console/reconciliations';

export type Reconciliation = AnswerOf<'OperatorReconciliationList'>['reconciliations'][number];

const differenceCount = ({ counts }: Reconciliation): number =>
  counts.differing + counts.onlyHere + counts.onlyAtService;

export function outcomeChip(reconciliation: Reconciliation): Html {
  const { outcome } = reconciliation;
  if (outcome !== 'complete') return chip(outcomeNames[outcome], 'note');
  return differenceCount(reconciliation) === 0
    ? chip(outcomeNames.complete, 'good')
    : chip(outcomeNames.differs, 'bad');
}

export const reconciliationsPage: Page = async (context) => {
  const { api, query, session } = context;
  const mayAsk = mayDo(session.grants, 'operators:act', 'everywhere');
  const asked = queryOf(query, ['cursor'], { perPage: '50' });
  const [{ reconciliations, nextCursor }, { accounts }] = await Promise.all([
    api.get<'OperatorReconciliationList'>(`/api/v1/admin/reconciliations?${asked.toString()}`),
    mayAsk ? api.get<'AccountList'>('/api/v1/admin/accounts') : { accounts: [] },
  ]);
  return listPage(context, {
    title: 'Reconciliation',
    path,
    list,
    rows: reconciliations,
    nextCursor,
    none: 'Nothing has been compared yet.',
    noneHow: 'The gateway compares each day when it is over, and again some days later.',
    note: 'Our books compared with the Payment Service’s lists, by merchant account and day of creation in UTC.',
    tabs: mayAsk ? askForm(accounts, context) : undefined,
  });
};

const list: List<Reconciliation> = {
  name: 'reconciliations',
  label: 'Reconciliation',
  keyOf: ({ token }) => token,
  columns: [
    column('day', 'Day', ({ token, day }) => html`<a href="${path}/${token}">${day}</a>`, {
      width: 'word',
      use: 'always',
    }),
    column('account', 'Account', accountCell, { use: 'always' }),
    column('state', 'Outcome', outcomeCell, { width: 'state', use: 'always' }),
    countColumn('matched', 'Matched', ({ counts }) => counts.matched),
    countColumn('differences', 'Differences', differenceCount),
    countColumn('underWay', 'Under way', ({ counts }) => counts.underWay, { isSecond: true }),
    column('by', 'By', ({ by }) => byNames[by], { width: 'word', isSecond: true }),
    column('ended', 'Ended', ({ endedAt }) => relative(endedAt), { width: 'word', isSecond: true }),
  ],
};

function accountCell({ account, environment }: Reconciliation): Html {
  return html`<span title="${account}">${account}</span> <small class="calm">${environment}</small>`;
}

function outcomeCell(reconciliation: Reconciliation): Html {
  const dryRun = reconciliation.isDryRun ? html` <small class="calm">compared only</small>` : undefined;
  return html`${outcomeChip(reconciliation)}${dryRun}`;
}

function askForm(
  accounts: readonly Pick<Account, 'environment' | 'account'>[],
  { session, now }: PageContext,
): Html {
  const yesterday = new Date(now - dayMs).toISOString().slice(0, 10);
  return html`<form method="post" action="${path}" class="inline">
    ${hiddenFields({ csrf: session.csrf })}
    ${choice('account', 'Account', '', { options: accountOptions(accounts) })}
    <label>Day (UTC)<input type="date" name="day" value="${yesterday}" required /></label>
    <label class="check"
      ><input type="checkbox" name="isDryRun" value="true" checked />Compare only: nothing is inquired, and no
      review opens</label
    >
    <button>Compare</button>
  </form>`;
}

export const askReconciliation: Action = async ({ api }, form) => {
  const [, environment = '', account = ''] = /^(\w+)\/(.+)$/.exec(form.get('account') ?? '') ?? [];
  if (account === '') return shownAt(path, false, 'Choose an account.');
  const day = form.get('day') ?? '';
  const isDryRun = form.get('isDryRun') === 'true';
  const answer = await api.post('/api/v1/admin/reconciliations', { environment, account, day, isDryRun });
  return answered(answer, path, `${day} of ${account} is being compared. It shows here when it has ended.`);
};
