/** The entries of the ledger: the cause of every movement of money, with links. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { amountText } from '../components/amount.ts';
import { csvLink } from '../components/csv-menu.ts';
import { filterForm, ownerFields } from '../components/filters.ts';
import { createdColumn } from '../components/list-columns.ts';
import { listPage } from '../components/list-page.ts';
import { type List, column } from '../components/table.ts';
import { operationLink, shortToken } from '../components/token.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const path = '/console/money/journal';

type Entry = AnswerOf<'OperatorJournal'>['entries'][number];

const hidden = { account: 'hidden', dateFrom: 'hidden', dateTo: 'hidden', order: 'hidden' } as const;

export const journalPage: Page = async (context) => {
  const { api, query } = context;
  const { teams } = await api.get<'TeamNames'>('/api/v1/admin/teams');
  const fields = {
    ...ownerFields(teams),
    wallet: 'text',
    currency: 'text',
    ledgerAccount: Object.entries(texts.ledgerAccounts),
    kind: Object.entries(texts.entryKinds),
    token: 'text',
    ...hidden,
  } as const;
  const asked = queryOf(query, [...Object.keys(fields), 'cursor'], { perPage: '50' });
  const found = await api.get<'OperatorJournal'>(`/api/v1/admin/journal?${asked.toString()}`);
  const { entries, nextCursor } = found;
  return listPage(context, {
    title: 'Journal',
    path,
    list,
    rows: entries,
    nextCursor,
    none:
      nextCursor === undefined
        ? 'No entry matches these filters.'
        : 'None of the 5,000 entries from here on matches these filters. The next page looks further.',
    file: csvLink('/console/journal', asked),
    filters: filterForm(path, query, fields),
  });
};

const list: List<Entry> = {
  name: 'journal',
  label: 'Journal',
  keyOf: ({ token, time, kind, postings }) => [token, time, kind, JSON.stringify(postings)].join(' '),
  hasDays: true,
  columns: [
    column('about', 'About', ({ token }) => aboutLink(token), { width: 'token', use: 'always' }),
    createdColumn('Time', ({ time }) => time),
    column('kind', 'Kind', ({ kind }) => texts.entryKinds[kind] ?? kind, { width: 'time' }),
    column('postings', 'Postings', postingsText, { use: 'always' }),
    column('event', 'Event', ({ eventType }) => eventType, { use: 'asked' }),
    column('wallet', 'Wallet', ({ wallet }) => wallet, { width: 'name', isSecond: true }),
    column('team', 'Team', ({ team }) => team, { width: 'name' }),
  ],
};

function postingsText({ postings, currency }: Entry): string {
  const shown = postings.map(({ ledgerAccount, amount }) => {
    const name = texts.ledgerAccounts[ledgerAccount] ?? ledgerAccount;
    return `${name} ${amount > 0 ? '+' : ''}${amountText(amount, currency)}`;
  });
  return shown.join(', ');
}

/** A transfer has no page. */
const aboutLink = (token: string): Html =>
  token.startsWith('trf_')
    ? html`<span title="${token}"><code>${shortToken(token)}</code></span>`
    : operationLink(token);
